package codec

import (
	"bytes"
	jsonv1 "encoding/json"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
)

// testPod is a pod as a cluster has them.
func testPod() *corev1.Pod {
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC))
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080), Scheme: "HTTP"}}, TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3}
	condition := func(name corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: name, Status: "True", LastTransitionTime: at}
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-6d4cf56db6-00001", GenerateName: "web-6d4cf56db6-", Namespace: "team-1", UID: "6c3f7c2e-1b0d-4a55-9c7a-1d2e3f4a5b6c", ResourceVersion: "1000001", CreationTimestamp: at,
			Labels:          map[string]string{"app": "web", "pod-template-hash": "6d4cf56db6", "tier": "frontend"},
			Annotations:     map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "8080"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-6d4cf56db6", UID: "6c3f7c2e-1b0d-4a55-9c7a-1d2e3f4a5b6d", Controller: new(true), BlockOwnerDeletion: new(true)}},
		},
		Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web-config"}}}}},
			Containers: []corev1.Container{{
				Name: "app", Image: "registry.example.com/team/web:v1.2.3",
				Ports:         []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
				Env:           []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}},
				Resources:     corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": apiresource.MustParse("500m"), "memory": apiresource.MustParse("256Mi")}, Requests: corev1.ResourceList{"cpu": apiresource.MustParse("100m"), "memory": apiresource.MustParse("128Mi")}},
				VolumeMounts:  []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
				LivenessProbe: probe, ReadinessProbe: probe, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ImagePullPolicy: "IfNotPresent",
			}},
			RestartPolicy: "Always", DNSPolicy: "ClusterFirst", ServiceAccountName: "default", NodeName: "node-1", SchedulerName: "default-scheduler",
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute"}},
		},
		Status: corev1.PodStatus{
			Phase: "Running", HostIP: "192.168.0.1", PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}}, StartTime: &at, QOSClass: "Burstable",
			Conditions:        []corev1.PodCondition{condition("Initialized"), condition("Ready"), condition("ContainersReady"), condition("PodScheduled")},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}, Ready: true, Image: "registry.example.com/team/web:v1.2.3"}},
		},
	}
}

func testWebApp() *webApp {
	return &webApp{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "WebApp"},
		ObjectMeta: metav1.ObjectMeta{Name: "hello", Namespace: "default", UID: "6c3f7c2e-1b0d-4a55-9c7a-1d2e3f4a5b6c", ResourceVersion: "1000001", CreationTimestamp: metav1.NewTime(time.Unix(1767225600, 0)), Generation: 2, Labels: map[string]string{"app": "hello"}},
		Spec:       webAppSpec{Image: "nginx:1.27", Replicas: 3},
		Status:     &webAppStatus{AvailableReplicas: 3, Ready: true},
	}
}

// testDeployment is what an operator applies: some ten fields.
func testDeployment() *appsv1.Deployment {
	labels := map[string]string{"app": "hello"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "hello", Namespace: "default", Labels: labels, OwnerReferences: []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "WebApp", Name: "hello", UID: "6c3f7c2e-1b0d-4a55-9c7a-1d2e3f4a5b6c", Controller: new(true)}}},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "web", Image: "nginx:1.27", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": apiresource.MustParse("100m")}},
			}}}},
		},
	}
}

func bench(b *testing.B, name string, f func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecodeJSON(b *testing.B) {
	pod, app := []byte(mustEncode(b, testPod())), []byte(mustEncode(b, testWebApp()))
	bench(b, "pod/ours", func() error { return DecodeJSON(pod, new(corev1.Pod)) })
	bench(b, "pod/apimachinery", func() error { return kjson.UnmarshalCaseSensitivePreserveInts(pod, new(corev1.Pod)) })
	bench(b, "pod/encoding-json", func() error { return jsonv1.Unmarshal(pod, new(corev1.Pod)) })
	bench(b, "webapp/ours", func() error { return DecodeJSON(app, new(webApp)) })
	bench(b, "webapp/apimachinery", func() error { return kjson.UnmarshalCaseSensitivePreserveInts(app, new(webApp)) })
	bench(b, "webapp/encoding-json", func() error { return jsonv1.Unmarshal(app, new(webApp)) })
	bench(b, "unstructured/ours", func() error { return DecodeJSON(pod, new(unstructured.Unstructured)) })
	bench(b, "unstructured/apimachinery", func() error { return new(unstructured.Unstructured).UnmarshalJSON(pod) })
}

func BenchmarkEncodeJSON(b *testing.B) {
	pod, app := testPod(), testWebApp()
	var dynamic unstructured.Unstructured
	if err := DecodeJSON([]byte(mustEncode(b, pod)), &dynamic); err != nil {
		b.Fatal(err)
	}
	bench(b, "pod/ours", func() error { _, err := EncodeJSON(pod); return err })
	bench(b, "pod/encoding-json", func() error { _, err := jsonv1.Marshal(pod); return err })
	bench(b, "webapp/ours", func() error { _, err := EncodeJSON(app); return err })
	bench(b, "webapp/encoding-json", func() error { _, err := jsonv1.Marshal(app); return err })
	bench(b, "webapp/object", func() error { _, err := EncodeObject(app, "example.com/v2", "WebApp"); return err })
	bench(b, "unstructured/ours", func() error { _, err := EncodeJSON(&dynamic); return err })
	bench(b, "unstructured/apimachinery", func() error { _, err := dynamic.MarshalJSON(); return err })
}

func BenchmarkProtobuf(b *testing.B) {
	pod := testPod()
	serializer := protobuf.NewSerializer(nil, nil)
	message, err := pod.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	bench(b, "encode/ours", func() error { _, err := EncodeProtobuf(pod, "v1", "Pod"); return err })
	bench(b, "encode/apimachinery", func() error { return serializer.Encode(pod, new(bytes.Buffer)) })
	bench(b, "decode/ours", func() error { return DecodeProtobuf(message, new(corev1.Pod)) })
	bench(b, "decode/generated", func() error { return new(corev1.Pod).Unmarshal(message) })
}

func BenchmarkEncodeApply(b *testing.B) {
	deployment, app, pod := testDeployment(), testWebApp(), testPod()
	bench(b, "deployment/sparse", func() error { _, err := EncodeApply(deployment, "apps/v1", "Deployment", nil); return err })
	bench(b, "deployment/full", func() error { _, err := EncodeJSON(deployment); return err })
	bench(b, "deployment/zero", func() error {
		_, err := EncodeApply(deployment, "apps/v1", "Deployment", []string{"spec.paused"})
		return err
	})
	bench(b, "webapp/sparse", func() error { _, err := EncodeApply(app, "example.com/v1", "WebApp", nil); return err })
	bench(b, "webapp/full", func() error { _, err := EncodeJSON(app); return err })
	bench(b, "pod/sparse", func() error { _, err := EncodeApply(pod, "v1", "Pod", nil); return err })
	bench(b, "pod/full", func() error { _, err := EncodeJSON(pod); return err })
}
