package kubetest

import (
	"encoding/json/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube/kubetest/internal/recorded"
)

const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// tableAt returns the table at a path.
func tableAt(t *testing.T, s *Server, path string) *metav1.Table {
	t.Helper()
	w := answerTo(s, path, http.Header{"Accept": {acceptTable}})
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(w.Body.Bytes(), table); err != nil {
		t.Fatal(err)
	}
	return table
}

func columnNames(table *metav1.Table) string {
	var names []string
	for _, c := range table.ColumnDefinitions {
		names = append(names, c.Name)
	}
	return strings.Join(names, "|")
}

func TestTableOfPods(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := func(name string, change func(*corev1.Pod)) runtime.Object {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example"}}}}
		change(p)
		return p
	}
	status := func(s corev1.ContainerStatus) []corev1.ContainerStatus {
		s.Name = "main"
		return []corev1.ContainerStatus{s}
	}
	s := Start(t, &Options{Objects: []runtime.Object{
		pod("crashes", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: status(corev1.ContainerStatus{
				RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			})}
		}),
		pod("done", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: status(corev1.ContainerStatus{
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
			})}
		}),
		pod("gated", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated},
			}}
		}),
		pod("init", func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "example"}, {Name: "side", Image: "example", RestartPolicy: &always}}
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{{
				Name: "first", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2}},
			}}}
		}),
		pod("runs", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: status(corev1.ContainerStatus{
				Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			})}
		}),
	}})
	table := tableAt(t, s, "/api/v1/namespaces/default/pods")
	want := map[string][]any{
		"crashes": {"0/1", "CrashLoopBackOff", "3"}, "done": {"0/1", "Completed", "0"}, "gated": {"0/1", "SchedulingGated", "0"},
		"init": {"0/2", "Init:ExitCode:2", "0"}, "runs": {"1/1", "Running", "0"},
	}
	got := map[string][]any{}
	for _, row := range table.Rows {
		got[row.Cells[0].(string)] = row.Cells[1:4]
		if completed := len(row.Conditions) > 0; completed != (row.Cells[0] == "done") {
			t.Errorf("%v: completed is %t", row.Cells[0], completed)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ready, status and restarts (-want +got):\n%s", diff)
	}
}

func TestTableIncludes(t *testing.T) {
	s := Start(t, &Options{Objects: []runtime.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "1"}}}})
	for include, want := range map[string]string{"": "PartialObjectMetadata", "Metadata": "PartialObjectMetadata", "Object": "ConfigMap", "None": ""} {
		table := tableAt(t, s, "/api/v1/namespaces/default/configmaps/settings?includeObject="+include)
		var meta metav1.TypeMeta
		if raw := table.Rows[0].Object.Raw; len(raw) > 0 && string(raw) != "null" {
			if err := json.Unmarshal(raw, &meta, json.RejectUnknownMembers(false)); err != nil {
				t.Fatal(err)
			}
		}
		if meta.Kind != want || table.Rows[0].Cells[1] != float64(1) || columnNames(table) != "Name|Data|Age" {
			t.Errorf("includeObject=%s: %q, columns %s, cells %v", include, meta.Kind, columnNames(table), table.Rows[0].Cells)
		}
	}
	w := answerTo(s, "/api/v1/configmaps?includeObject=some", http.Header{"Accept": {acceptTable}})
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "must be 'Metadata', 'Object', 'None', or empty") {
		t.Errorf("includeObject=some: %d %s", w.Code, w.Body)
	}
}

// TestTablesHaveACellForEachColumn looks at every kind that has columns of its own.
func TestTablesHaveACellForEachColumn(t *testing.T) {
	s := Start(t, nil)
	for _, k := range s.kinds.catalog().kinds {
		columns, known := recorded.Columns(k.GroupVersionResource())
		if !known {
			continue
		}
		p := s.kinds.catalog().printer(k)
		// IPAddresses have a cell without a column, on a real server too.
		if got := len(p.cells(k.new())); got != len(p.columns) && k.Kind != "IPAddress" {
			t.Errorf("%s: %d cells for %d columns", k.GroupVersionResource(), got, len(p.columns))
		}
		if nameOnly(p.columns) && !nameOnly(columns) && k.Kind != "ComponentStatus" && k.Kind != "APIService" {
			t.Errorf("%s has no cells of its own", k.GroupVersionResource())
		}
	}
}

func nameOnly(columns []metav1.TableColumnDefinition) bool {
	return len(columns) == 2 && columns[1].Name == "Created At"
}

func TestTableOfDeployment(t *testing.T) {
	replicas := int32(3)
	s := Start(t, &Options{Objects: []runtime.Object{&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example:1"}, {Name: "side", Image: "example:2"}}},
			},
		},
	}}})
	table := tableAt(t, s, "/apis/apps/v1/namespaces/default/deployments")
	row := table.Rows[0].Cells
	row[4] = "" // the age
	want := []any{"web", "0/3", float64(0), float64(0), "", "main,side", "example:1,example:2", "app=web"}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}
