package kube_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// scenario is something that the tests of kube-rs look at, and the tests that look at it here.
type scenario struct {
	what string
	// tests are folders, each with a colon, followed by the tests in it. A test may be followed by
	// a slash and the name of a case, whose blanks are written _.
	tests string
	// none says why there are no tests.
	none string
}

// scenarios are those of what its crates kube-core and kube-client do without a cluster. The mistakes of
// kube-rs that must not be made here are in regression_test.go, what is about its runtime in
// runtime/testdata/lessons.txt.
var scenarios = []scenario{
	// What a request looks like.
	{what: "create of a Secret, ReplicaSet, Role, CronJob, HorizontalPodAutoscaler, NetworkPolicy, Ingress, VolumeAttachment, webhook configuration, review, CRD", tests: ".: TestRequestAddresses TestCreateReviews"},
	{what: "get of metadata, its Accept header", tests: ".: TestRequests/get_metadata"},
	{what: "get of any version, and of one", tests: ".: TestRequests/get_any_version TestRequestAddresses"},
	{what: "an empty name is refused: get, metadata, delete, patch, replace, subresource", tests: ".: TestEmptyNames"},
	{what: "list without options; of namespaces; of metadata not older than", tests: ".: TestRequests/list TestRequests/list_metadata TestRequestAddresses"},
	{what: "list: any version, exact at 0, limit, continue, exact at a version", tests: ".: TestRequests/list_any_version_by_pages TestOptionsAreChecked/exact_at_any_version TestRequests/list_a_page TestRequests/list_the_next_page_without_a_version TestRequests/list_at_a_version"},
	{what: "a match without a version", tests: ".: TestOptionsAreChecked/match_without_a_version"},
	{what: "the timeout of a list is sent", tests: ".: TestRegression16ListTimeoutIsSent"},
	{what: "watch: default, streaming list, without bookmarks, selectors, metadata", tests: ".: TestRequests/watch TestRequests/streaming_list TestRequests/watch_without_bookmarks TestRequests/watch_metadata"},
	{what: "initial events without bookmarks", tests: ".: TestOptionsAreChecked/initial_events_without_bookmarks"},
	{what: "the timeout of a watch: its bounds, and the watcher's 290 s", tests: ".: TestOptionsAreChecked/short_timeout runtime/watcher: TestIdleLimit TestIdleTimeoutOption"},
	{what: "replace as a dry run", tests: ".: TestRequestAddresses"},
	{what: "delete, delete of a collection, the options of a delete", tests: ".: TestRequests/delete TestRequests/delete_with_options TestRequests/delete_a_collection TestDeleteBodies"},
	{what: "the four kinds of patch and their media types", tests: ".: TestRequests/apply TestRequests/JSON_patch TestRequests/strategic_patch TestRequests/patch_metadata"},
	{what: "force is for apply only", tests: ".: TestRequests/apply TestRequests/apply_that_does_not_force"},
	{what: "field validation, on every write", tests: ".: TestRegression18FieldValidationOnAllWrites TestOptionsAreChecked/unknown_field_validation"},
	{what: "a field manager of more than 128 bytes", tests: ".: TestOptionsAreChecked/long_field_manager"},
	{what: "status and scale: get, patch, replace; a token", tests: ".: TestRequests/status_patch TestRequests/status_replace TestRequests/scale_get TestRequests/scale_replace TestRequestAddresses"},
	{what: "a selector as the parameter of a list and of a watch", tests: ".: TestRequests/list_and_watch_by_a_selector"},
	{what: "names are escaped", tests: ".: TestRegression19NamesAreEscaped FuzzRequestPath FuzzJoinPath"},
	{what: "the parameters of a log", tests: "pods: TestLogs TestFollowLogs"},
	{what: "addresses of log, eviction, attach, exec, port-forward, resize", tests: "pods: TestLogs TestExecTerminal TestExecOutput TestDial .: TestRequestAddresses"},
	{what: "addresses of a kubelet", tests: "pods: TestKubelet/attach TestKubelet/exec TestKubeletLogs TestKubeletPorts"},
	{what: "restart and cordon", tests: ".: TestRegression17RestartIsKubectls TestRestart nodes: TestCordon"},

	// What the types of a client do.
	{what: "Status: deletion with and without details", tests: ".: TestDeleteAnswers"},
	{what: "Status: invalid with causes, not found, expired with a token", tests: ".: TestStatusIsKept/invalid TestStatusIsKept/expired,_with_a_token_to_go_on_from TestRefusals/status"},
	{what: "Status: is_not_found and its like, by reason or code", tests: ".: TestRefusals TestStatusIsKept/a_reason_that_is_not_known"},
	{what: "DeserializeGuard: one object that is broken", tests: ".: TestOneBrokenObject resource: TestDecodeFails TestDecodeBroken TestRawWithoutMetadata"},
	{what: "versions: parsed, ordered by priority and by generation", tests: "resource: TestParseVersion TestCompareVersions FuzzCompareVersions"},
	{what: "plurals of the built-in kinds", tests: "resource: TestPluralize k8s/all: TestPluralsAreGuessed"},
	{what: "Duration: Go's own, in the objects of users and in schemas", tests: "internal/codec: TestCustomTypesAreThoseOfTheServer crd: TestGolden"},
	{what: "labels: what each form matches, combined, from and to a LabelSelector, as text", tests: "resource: TestSelectorMatches TestSelectorOf TestSelectorOfErrors TestLabelSelectorOfSelector TestParseSelector TestSelectorAnd FuzzParseSelector"},
	{what: "group, version and kind: parsed, and refused", tests: "resource: TestSplitAPIVersion TestInfoValidate TestInfoNames"},
	{what: "dynamic objects: their requests, the core group, as a Pod", tests: ".: TestRequests/create_a_dynamic_object_without_a_type TestResolve resource: TestDynamicObjectAsItsType"},
	{what: "Object: a simple Pod of one's own", tests: "resource: TestNew TestObjectJSON"},
	{what: "ObjectList: iterated, items without type, a list without kind, nulls", tests: ".: TestEachGoesThroughPages internal/wire: TestReadListJSON/null_items TestReadListJSON/null_metadata TestReadListJSON/no_metadata"},
	{what: "metadata only: read, written, told from whole objects", tests: ".: TestRequests/apply_metadata TestRequests/patch_metadata resource: TestMetadataUnmarshal TestMetadataDeepCopy"},
	{what: "owner references need a name and a uid", tests: "resource: TestOwnerRef TestOwnerReferences"},
	{what: "admission and conversion reviews", tests: "internal/codec: TestAdmissionReview TestConversionReview"},
	{what: "an admission request as the input of a CEL rule", none: "comes with webhooks"},
	{what: "CEL rules with optionalOldSelf", tests: "crd: TestEachMarker"},
	{what: "aggregated discovery: groups and core", tests: ".: TestDiscover/v2 TestDiscover/v2beta1"},
	{what: "merging of definitions, and each of its errors", tests: "crd: TestMerge TestMergeFails"},

	// What a client does.
	{what: "the default namespace: given, and from a kubeconfig", tests: ".: TestRequests/list_in_the_namespace_of_the_configuration TestConfigFromLoaded TestInClusterConfig"},
	{what: "a client over a service in memory", tests: ".: ExampleClient_Namespaced TestRequests"},
	{what: "requests of metadata: get, list, patch, watch", tests: ".: TestRequests/get_metadata TestRequests/list_metadata TestRequests/patch_metadata TestRequests/watch_metadata"},
	{what: "a cluster-scoped kind in a namespace does not compile", tests: "test/compile: TestCompile"},
	{what: "retries: by status, Retry-After, the body, how many, delays", tests: ".: TestRetryTable TestRetryAfter TestParseRetryAfter TestBodyThatCannotBeReplayed TestMaxRetries TestBackoff TestBackoffVaries"},
	{what: "the address of the server: plain, and with Rancher's prefix", tests: ".: TestServer TestPathPrefix TestRequests"},
	{what: "a token is sent; one that cannot be a header is refused", tests: ".: TestAuthorization/token TestCredentialErrors/blank_token TestCredentialErrors/token_with_a_blank"},
	{what: "compression: asked for, and off", tests: ".: TestCompression/asked_for TestCompression/off"},
	{what: "token files: kept, read again, failures", tests: ".: TestTokenFile TestTokenStandsInForFile"},
	{what: "exec: output as JSON and YAML, and as neither", tests: "kubeconfig: TestExecOutput/token TestExecOutput/yaml TestExecErrors/garbage"},
	{what: "gcp: a command with token-key and expiry-key", tests: "kubeconfig: TestCommandProvider TestCommandProviderErrors"},
	{what: "a stale token is replaced when it is needed", tests: ".: TestSourcedTokensAreRefreshedBeforeTheirEnd TestSourcedTokensOfShortLife"},
	{what: "a plugin that takes its time holds up nobody else", tests: ".: TestSourcedGoesOnWithoutItsRequest"},
	{what: "OIDC: a good token, an ended one, malformed ones", tests: "kubeconfig: TestOIDCStoredToken TestOIDCErrors/ended TestOIDCErrors/two_parts TestOIDCErrors/bad_base64 TestOIDCErrors/no_end"},
	{what: "OIDC: configured in part and in full", tests: "kubeconfig: TestOIDCErrors/no_issuer TestOIDCErrors/no_client TestOIDCRefresh TestOIDCWritesBack"},
	{what: "the authority's file is read again, and kept when it is gone", tests: ".: TestAuthorityFileIsReloaded TestTLSFilesThatAreGone"},
	{what: "without an authority, the system's", tests: ".: TestServerVerification/the_system's_authorities"},
	{what: "tls-server-name: SNI, verification, an IP address; without it the host; insecure", tests: ".: TestServerVerification/tls-server-name TestServerVerification/tls-server-name_that_is_an_address TestServerVerification/wrong_name TestServerVerification/insecure"},
	{what: "the address in a cluster: name, IPv4, IPv6, ports", tests: ".: TestInClusterConfig/name TestInClusterConfig/IPv4 TestInClusterConfig/IPv6"},
	{what: "kubeconfig: merged, the first one wins", tests: "kubeconfig: TestMerge TestDocuments TestLoadDefault"},
	{what: "kubeconfig: extensions, impersonation, installHint", tests: "kubeconfig: TestShapes TestExtensions"},
	{what: "kubeconfig: sections in two files", tests: "kubeconfig: TestLoadDefault"},
	{what: "kubeconfig: empty, and with a password that is null", tests: "kubeconfig: TestEmpty TestDocuments"},
	{what: "kubeconfig: secrets are not printed", tests: "kubeconfig: TestSecretsAreNotPrinted TestErrorsHideSecrets TestPrinted"},
	{what: "kubeconfig: provideClusterInfo, and its config", tests: "kubeconfig: TestExecInfo"},
	{what: "kubeconfig: UTF-8 and UTF-16", tests: "kubeconfig: TestEncodings"},
	{what: "kubeconfig: a relative command, a bare one", tests: "kubeconfig: TestRelativePaths TestExecRelativeCommand"},
	{what: "kubeconfig: unknown fields are written back", tests: "kubeconfig: TestShapesRoundTrip TestUnknownFieldsAreKept"},
	{what: "discovery: namespaced and cluster-scoped kinds, subresources, versions", tests: ".: TestDiscover/v2 TestDiscover/plain"},
	{what: "discovery: a group without versions", tests: ".: TestDiscoverErrors"},
	{what: "discovery: each kind once, by stability", tests: ".: TestDiscover"},
}

// TestScenariosHaveTests fails when a test that shows a scenario is gone.
func TestScenariosHaveTests(t *testing.T) {
	known := map[string]map[string]bool{}
	for _, s := range scenarios {
		if (s.tests == "") == (s.none == "") {
			t.Errorf("%s: it needs either tests or a reason why there are none", s.what)
		}
		folder := ""
		for _, word := range strings.Fields(s.tests) {
			if name, ok := strings.CutSuffix(word, ":"); ok {
				folder = name
				if known[folder] == nil {
					known[folder] = testNames(t, folder)
				}
				continue
			}
			test, part, _ := strings.Cut(word, "/")
			if !known[folder][test] || part != "" && !known[folder][strconv.Quote(strings.ReplaceAll(part, "_", " "))] {
				t.Errorf("%s: there is no %s in %s", s.what, word, folder)
			}
		}
	}
}

// testNames returns the names of the test functions in a folder, and the strings in its test files, in
// quotes, which the names of cases are among.
func testNames(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no test files, %v", folder, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "scenarios_test.go" {
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					names[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					names[strconv.Quote(text)] = true
				}
			}
			return true
		})
	}
	return names
}
