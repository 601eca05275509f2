package main

// copyTestdata gives the test of package k8s what it compares with.
func copyTestdata(src source) ([]file, error) { return nil, nil }
