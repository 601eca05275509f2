package kubetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What a real server does with new objects of the core group besides reading them: the admission
// plugins that are on by default, and what the registries fill in.

// admitPod does what the plugins Priority, RuntimeClass and DefaultTolerationSeconds do.
func admitPod(rq *request, obj, old runtime.Object) error {
	pod := obj.(*corev1.Pod)
	if rq.subresource != "" {
		return nil
	}
	if old == nil {
		if err := rq.setPriority(pod); err != nil {
			return err
		}
		if err := rq.setOverhead(pod); err != nil {
			return err
		}
	} else {
		was := &old.(*corev1.Pod).Spec
		if pod.Spec.Priority == nil {
			pod.Spec.Priority = was.Priority
		}
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = was.PreemptionPolicy
		}
	}
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerated {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
			})
		}
	}
	return nil
}

// setPriority takes the priority of a pod from its class, or the default one.
func (rq *request) setPriority(pod *corev1.Pod) error {
	k := rq.server.kinds.catalog().byKind[schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")]
	class := &schedulingv1.PriorityClass{PreemptionPolicy: new(corev1.PreemptLowerPriority)}
	switch name := pod.Spec.PriorityClassName; {
	case name != "":
		o := k.table.get(key{name: name})
		if o == nil {
			return apierrors.NewForbidden(rq.resourceName(), pod.Name, fmt.Errorf("no PriorityClass with name %v was found", name))
		}
		class = k.convert(o).(*schedulingv1.PriorityClass)
	default:
		if found := rq.defaultPriority(k); found != nil {
			class = found
			pod.Spec.PriorityClassName = class.Name
		}
	}
	if pod.Spec.Priority != nil && *pod.Spec.Priority != class.Value {
		return apierrors.NewForbidden(rq.resourceName(), pod.Name,
			fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *pod.Spec.Priority, class.Value))
	}
	pod.Spec.Priority = new(class.Value)
	if p := pod.Spec.PreemptionPolicy; p != nil && *p != or(class.PreemptionPolicy, corev1.PreemptLowerPriority) {
		return apierrors.NewForbidden(rq.resourceName(), pod.Name,
			fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *p, or(class.PreemptionPolicy, corev1.PreemptLowerPriority)))
	}
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
	return nil
}

// setOverhead takes the overhead of a pod from its runtime class.
func (rq *request) setOverhead(pod *corev1.Pod) error {
	if pod.Spec.RuntimeClassName == nil {
		return nil
	}
	name := *pod.Spec.RuntimeClassName
	k := rq.server.kinds.catalog().byKind[nodev1.SchemeGroupVersion.WithKind("RuntimeClass")]
	o := k.table.get(key{name: name})
	if o == nil {
		return apierrors.NewForbidden(rq.resourceName(), pod.Name, fmt.Errorf("pod rejected: RuntimeClass %q not found", name))
	}
	if class := k.convert(o).(*nodev1.RuntimeClass); class.Overhead != nil && pod.Spec.Overhead == nil {
		pod.Spec.Overhead = class.Overhead.DeepCopy().PodFixed
	}
	return nil
}

// defaultPriority returns the class of pods that name none, the one of least value if there
// are several; nil if there is none.
func (rq *request) defaultPriority(k *kind) *schedulingv1.PriorityClass {
	var class *schedulingv1.PriorityClass
	snap, _ := k.table.snapshot(0, "", key{}, 0, nil)
	for _, o := range snap.objects {
		if c := k.convert(o).(*schedulingv1.PriorityClass); c.GlobalDefault && (class == nil || c.Value < class.Value) {
			class = c
		}
	}
	return class
}

// preparePod gives a new pod its status.
func preparePod(_ *request, obj runtime.Object) {
	pod := obj.(*corev1.Pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&pod.Spec)}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
}

// qosClass follows from the requests and limits of all containers.
func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	guaranteed, any := true, false
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			any = any || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// prepareJob makes the selector of a new job, which selects the pods of this job alone.
func prepareJob(_ *request, obj runtime.Object) {
	o := obj.(*batchv1.Job)
	if or(o.Spec.ManualSelector, false) {
		return
	}
	uid := string(o.UID)
	labels := map[string]string{
		batchv1.ControllerUidLabel: uid, batchv1.JobNameLabel: o.Name, "controller-uid": uid, "job-name": o.Name,
	}
	merged := maps.Clone(o.Spec.Template.Labels)
	mergeInto(&merged, labels)
	o.Spec.Template.Labels = merged
	if o.Spec.Selector == nil {
		o.Spec.Selector = &metav1.LabelSelector{}
	}
	mergeInto(&o.Spec.Selector.MatchLabels, map[string]string{batchv1.ControllerUidLabel: uid})
}

// prepareVolume and prepareClaim give new volumes and claims their status.
func prepareVolume(_ *request, obj runtime.Object) {
	obj.(*corev1.PersistentVolume).Status.Phase = corev1.VolumePending
}

func prepareClaim(_ *request, obj runtime.Object) {
	o := obj.(*corev1.PersistentVolumeClaim)
	o.Status.Phase = corev1.ClaimPending
	normalizeSource(&o.Spec)
}

func prepareClaimUpdate(_ *request, obj, _ runtime.Object) {
	normalizeSource(&obj.(*corev1.PersistentVolumeClaim).Spec)
}

// admitNode taints a new node: it is not ready before its kubelet says so.
func admitNode(rq *request, obj, old runtime.Object) error {
	o := obj.(*corev1.Node)
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	preloaded := rq.recorded == nil // such a node is what it says
	if old == nil && rq.subresource == "" && !preloaded && !slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&notReady) }) {
		o.Spec.Taints = append(o.Spec.Taints, notReady)
	}
	return nil
}

// normalizeSource has both fields for the source of a claim say the same, where they can.
func normalizeSource(s *corev1.PersistentVolumeClaimSpec) {
	if d := s.DataSource; d != nil {
		claim := or(d.APIGroup, "") == "" && d.Kind == "PersistentVolumeClaim"
		snapshot := or(d.APIGroup, "") == "snapshot.storage.k8s.io" && d.Kind == "VolumeSnapshot"
		if !claim && !snapshot {
			s.DataSource = nil
		}
	}
	switch d, ref := s.DataSource, s.DataSourceRef; {
	case d != nil && ref == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: d.APIGroup, Kind: d.Kind, Name: d.Name}
	case d == nil && ref != nil && or(ref.Namespace, "") == "":
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

// prepareDaemonSet and prepareDaemonSetUpdate count the changes of the template in an annotation, where
// a field of an old version is kept.
func prepareDaemonSet(_ *request, obj runtime.Object) {
	mergeInto(&obj.(*appsv1.DaemonSet).Annotations, map[string]string{appsv1.DeprecatedTemplateGeneration: "1"})
}

func prepareDaemonSetUpdate(_ *request, obj, old runtime.Object) {
	o, was := obj.(*appsv1.DaemonSet), old.(*appsv1.DaemonSet)
	n, err := strconv.ParseInt(was.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		n = 0 // somebody has written into the stored object what is no number
	}
	if !equality.Semantic.DeepEqual(o.Spec.Template, was.Spec.Template) {
		n++
	}
	mergeInto(&o.Annotations, map[string]string{appsv1.DeprecatedTemplateGeneration: strconv.FormatInt(n, 10)})
}

func statefulSetWarnings(_ *request, obj, _ runtime.Object) []string {
	if limit := obj.(*appsv1.StatefulSet).Spec.RevisionHistoryLimit; limit != nil && *limit < 0 {
		return []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"}
	}
	return nil
}
