# Everything runs with the Go toolchain named here; the go command fetches it when it is missing.
export GOTOOLCHAIN := go1.27.3

MODULES := . examples kubetest crd/cel cmd/kube observe/otel bridge/controllerruntime test/kubeconfig bench test
# Those that need the API server, and the sources of other projects.
PROOFS := test/derive test/types
FUZZTIME ?= 30s
BIN := $(CURDIR)/bin
SHELL := /bin/bash

.PHONY: help demo test race lint generate bench bench-full bench-check fuzz conformance

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## run the WebApp operator and tell what happens; SERVER=real has a real API server, KEEP=1 leaves it up
	@cd test && go run ./cmd/demo $(if $(SERVER),-server=$(SERVER)) $(if $(KEEP),-keep)

test: ## run every test, against a real API server too (its first build takes some minutes)
	@set -e; for m in $(filter-out test,$(MODULES)); do [ -f $$m/go.mod ] || continue; echo "go -C $$m test ./..."; go -C $$m test ./...; done
	@cd test && go run ./cmd/apiserver -build kubectl $(if $(filter Linux,$(shell uname -s)),kubelet) && go run ./cmd/apiserver -- go test -timeout 30m ./...
	@set -e; for m in $(PROOFS); do echo "go -C $$m test -v ./..."; go -C $$m test -v -timeout 30m ./...; done

race: ## run the tests of the library with the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./...

lint: ## gofmt, vet, staticcheck, errorlint, and a doc comment on every exported name
	@bash .ci/lint

generate: ## write the descriptors in k8s/ again, from Kubernetes' own discovery documents
	go generate ./k8s

bench: ## measure the wire and the store beside apimachinery, and whole programs beside the peers
	@bash bench/run

bench-full: ## measure everything at every size, some hours on a small machine, and write docs/performance.md
	@bash bench/run -full

bench-check: ## bench, and fail when a target is missed by more than 10 %
	@bash bench/run -check

fuzz: ## fuzz every parser, FUZZTIME (30s) each
	@bash .ci/fuzz $(FUZZTIME)

conformance: ## run controller-runtime's suites and a script of kubectl against kubetest and a real API server; V=-v tells more
	@cd test/conformance && go run . $(V)
	@cd test/kubectl/compare && go run . $(V)
