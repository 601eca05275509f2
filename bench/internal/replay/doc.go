// Package replay is an API server that costs next to nothing: it has encoded objects in memory
// and copies their bytes to whoever lists or watches them, so that a benchmark measures the
// client and not the server.
//
// It serves one kind ([Pods], [Secrets] or [WebApps]) as JSON and, for built-in kinds, as
// protobuf: LIST with pages, WATCH, the streaming list with its closing bookmark, GET of one
// object, server-side apply (which answers with the stored object and changes nothing), and as
// much discovery as clients ask for.
//
// What happens to the objects is asked for by the client under test, so that it can tell the
// phases of its work apart:
//
//	POST /bench/events?count=N&rate=R&window=W   MODIFIED events to everyone who watches
//	POST /bench/next                             the next W of them
//	POST /bench/expire                           ends the watches with 410 Gone
//
// Events go out as fast as they are read unless rate says how many a second; each carries in
// its annotation [measure.AtAnnotation] the time at which it was sent. With a window, the server waits
// for /bench/next after each W events. The last object of the list, with the label [measure.DoneLabel],
// is the last event, and is what has changed in the list after /bench/expire.
package replay
