// Package servers has tests run against both API servers: a real one, by package apiserver, and
// kubetest. Where they differ, kubetest is wrong.
//
// A package of tests has a TestMain that calls [Main], which runs all tests twice. The environment
// variable KUBE_TEST_SERVER picks one server: real or kubetest.
package servers
