package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/awslabs/operatorpkg/reconciler"
	"github.com/awslabs/operatorpkg/singleton"
	corev1 "k8s.io/api/core/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"
	nodeutils "sigs.k8s.io/karpenter/pkg/utils/node"
)

// How often the market looks for machines to take back, and for those whose notice is over.
const look = 200 * time.Millisecond

// vanishesAt says on a node when its machine will be gone. It outlives a leader that dies during the notice.
const vanishesAt = "sandbox.flotilla.dev/vanishes-at"

// interruption is a spot machine that the market wants back.
type interruption struct {
	// Node is the name of its node.
	Node string `json:"node"`
}

// interruptions takes spot machines back as clouds do: a notice, which Karpenter's providers answer by giving up the
// claim and not buying there again for a while, and when the notice is over the machine is gone, whoever is still on it.
type interruptions struct {
	client   client.Client
	recorder events.Recorder
	market   *market
	path     string
	notice   time.Duration
}

func (i *interruptions) Register(_ context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named("market.interruptions").
		WatchesRawSource(singleton.Source()).
		Complete(singleton.AsReconciler(i))
}

// Reconcile gives notice to the machines that are wanted back, and ends those whose notice is over.
func (i *interruptions) Reconcile(ctx context.Context) (reconciler.Result, error) {
	wanted, err := i.wanted()
	if err != nil {
		return reconciler.Result{}, err
	}
	var nodes corev1.NodeList
	spot := client.MatchingLabels{v1.CapacityTypeLabelKey: v1.CapacityTypeSpot}
	if err := i.client.List(ctx, &nodes, spot); err != nil {
		return reconciler.Result{}, fmt.Errorf("listing spot machines, %w", err)
	}
	var faults []error
	for n := range nodes.Items {
		node := &nodes.Items[n]
		if end, noticed := node.Annotations[vanishesAt]; noticed {
			faults = append(faults, i.followUp(ctx, node, end))
		} else if wanted[node.Name] {
			faults = append(faults, i.giveNotice(ctx, node))
		}
	}
	return reconciler.Result{RequeueAfter: look}, errors.Join(faults...)
}

func (i *interruptions) giveNotice(ctx context.Context, node *corev1.Node) error {
	end := time.Now().Add(i.notice)
	noticed := node.DeepCopy()
	if noticed.Annotations == nil {
		noticed.Annotations = map[string]string{}
	}
	noticed.Annotations[vanishesAt] = end.UTC().Format(time.RFC3339Nano)
	if err := i.client.Patch(ctx, noticed, client.MergeFrom(node)); err != nil {
		return fmt.Errorf("giving notice to %s, %w", node.Name, err)
	}
	log.FromContext(ctx).Info("spot machine is wanted back", "Node", node.Name, "vanishes-at", end)
	i.market.remember(offer{
		InstanceType: node.Labels[corev1.LabelInstanceTypeStable],
		Zone:         node.Labels[corev1.LabelTopologyZone],
		CapacityType: v1.CapacityTypeSpot,
	})
	i.recorder.Publish(warning(node, node.Name))
	return i.giveUp(ctx, node)
}

// followUp ends a machine whose notice is over; before that it only makes sure that the claim was given up.
func (i *interruptions) followUp(ctx context.Context, node *corev1.Node, end string) error {
	moment, err := time.Parse(time.RFC3339Nano, end)
	if err != nil {
		return fmt.Errorf("reading when %s vanishes, %w", node.Name, err)
	}
	if time.Now().Before(moment) {
		return i.giveUp(ctx, node)
	}
	gone := node.DeepCopy()
	gone.Finalizers = nil
	if err := i.client.Patch(ctx, gone, client.MergeFrom(node)); err != nil {
		return client.IgnoreNotFound(err)
	}
	log.FromContext(ctx).Info("spot machine is gone", "Node", node.Name)
	return client.IgnoreNotFound(i.client.Delete(ctx, gone))
}

func (i *interruptions) giveUp(ctx context.Context, node *corev1.Node) error {
	claim, err := nodeutils.NodeClaimForNode(ctx, i.client, node)
	if err != nil {
		return nodeutils.IgnoreNodeClaimNotFoundError(err)
	}
	if !claim.DeletionTimestamp.IsZero() {
		return nil
	}
	i.recorder.Publish(warning(claim, string(claim.UID)))
	return client.IgnoreNotFound(i.client.Delete(ctx, claim))
}

func (i *interruptions) wanted() (map[string]bool, error) {
	content, err := os.ReadFile(i.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the interruptions, %w", err)
	}
	var listed []interruption
	if err := json.Unmarshal(content, &listed); err != nil {
		return nil, fmt.Errorf("reading the interruptions in %s, %w", i.path, err)
	}
	wanted := map[string]bool{}
	for _, each := range listed {
		wanted[each.Node] = true
	}
	return wanted, nil
}

func warning(about client.Object, identity string) events.Event {
	return events.Event{
		InvolvedObject: about,
		Type:           corev1.EventTypeWarning,
		Reason:         "SpotInterrupted",
		Message:        "The spot machine is wanted back and will be gone when its notice is over",
		DedupeValues:   []string{identity},
	}
}
