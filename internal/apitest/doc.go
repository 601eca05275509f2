// Package apitest is a scripted API server for unit tests: a test says which requests it
// expects and what is answered, and drives watches event by event. It runs on a network in
// memory, so that inside a testing/synctest bubble hours pass in milliseconds.
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := apitest.Start(t, nil)
//		srv.Expect("GET /api/v1/pods?limit=500").List("7", "", pod)
//		watch := srv.Expect("GET /api/v1/pods?watch=true&resourceVersion=7").Watch()
//		… use srv.Client() …
//		watch.Send("MODIFIED", pod)
//		synctest.Wait()
//	})
//
// It knows nothing of what an API server does with objects; kubetest does.
package apitest
