package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// How long a launch that failed keeps an offer from being tried again, as the provider for AWS does it.
const memory = 3 * time.Minute

// offer is one way to buy a machine. In a list of shortages an empty field means all.
type offer struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}

func (o offer) covers(other offer) bool {
	return (o.InstanceType == "" || o.InstanceType == other.InstanceType) &&
		(o.Zone == "" || o.Zone == other.Zone) &&
		(o.CapacityType == "" || o.CapacityType == other.CapacityType)
}

// market is a cloud provider whose machines can run out. Like a cloud, it tells only whoever tries to buy.
type market struct {
	cloudprovider.CloudProvider

	client    client.Client
	types     []*cloudprovider.InstanceType
	shortages string
	repair    time.Duration

	lock   sync.Mutex
	failed map[offer]time.Time
}

func newMarket(c client.Client, types []*cloudprovider.InstanceType, shortages string, repair time.Duration) *market {
	return &market{
		CloudProvider: kwok.NewCloudProvider(context.Background(), c, types),
		client:        c,
		types:         types,
		shortages:     shortages,
		repair:        repair,
		failed:        map[offer]time.Time{},
	}
}

// GetInstanceTypes returns every type, without the offers that failed a moment ago.
func (m *market) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return m.typesWhere(m.promising), nil
}

// Get returns a machine, which is there until it is gone. kwok's provider denies one as soon as its node is to go, and
// Karpenter would not drain a node that is not ready yet.
func (m *market) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	machines, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, machine := range machines {
		if machine.Status.ProviderID == providerID {
			return machine, nil
		}
	}
	return nil, cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("there is no machine %s", providerID))
}

// RepairPolicies adds to kwok's policies the one by which Karpenter on AWS replaces machines with a broken GPU.
func (m *market) RepairPolicies() []cloudprovider.RepairPolicy {
	return append(m.CloudProvider.RepairPolicies(), cloudprovider.RepairPolicy{
		ConditionType:      "AcceleratedHardwareReady",
		ConditionStatus:    corev1.ConditionFalse,
		TolerationDuration: m.repair,
	})
}

// Create buys a machine for the claim: a spot one where one is thinkable, in any zone that has one. Asked again for
// the same claim, it returns the same machine.
func (m *market) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if bought, err := m.bought(ctx, claim); bought != nil || err != nil {
		return bought, err
	}
	short, err := m.readShortages()
	if err != nil {
		return nil, err
	}
	stocked := map[offer]bool{}
	for _, wanted := range m.wanted(claim) {
		if isShort(short, wanted) {
			m.remember(wanted)
		} else {
			stocked[wanted] = true
		}
	}
	if len(stocked) == 0 {
		return nil, cloudprovider.NewInsufficientCapacityError(errors.New("no machine is to be had of any type and zone asked for"))
	}
	types := m.typesWhere(func(o offer) bool { return stocked[o] })
	made, err := kwok.NewCloudProvider(ctx, m.client, types).Create(ctx, only(claim, types))
	if err != nil {
		return nil, err
	}
	// The provider makes the node in the background, where it would be lost with this process.
	return made, wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		return m.client.Get(ctx, client.ObjectKey{Name: made.Name}, &corev1.Node{}) == nil, nil
	})
}

func (m *market) bought(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	var nodes corev1.NodeList
	if err := m.client.List(ctx, &nodes, client.MatchingLabels{corev1.LabelHostname: claim.Name}); err != nil {
		return nil, fmt.Errorf("looking for the claim's machine, %w", err)
	}
	if len(nodes.Items) == 0 {
		return nil, nil
	}
	return m.Get(ctx, nodes.Items[0].Spec.ProviderID)
}

// wanted returns the promising offers that satisfy the claim: only spot ones if there are any.
func (m *market) wanted(claim *v1.NodeClaim) []offer {
	requirements := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	var spot, others []offer
	for _, each := range m.typesWhere(m.promising) {
		if !requirements.Get(corev1.LabelInstanceTypeStable).Has(each.Name) {
			continue
		}
		for _, offering := range each.Offerings.Available().Compatible(requirements) {
			found := offerOf(each, offering)
			if found.CapacityType == v1.CapacityTypeSpot {
				spot = append(spot, found)
			} else {
				others = append(others, found)
			}
		}
	}
	if len(spot) > 0 {
		return spot
	}
	return others
}

// typesWhere returns copies of all types, in which just the offers that fulfil a condition are available.
func (m *market) typesWhere(available func(offer) bool) []*cloudprovider.InstanceType {
	types := make([]*cloudprovider.InstanceType, len(m.types))
	for i, each := range m.types {
		types[i] = &cloudprovider.InstanceType{}
		each.DeepCopyInto(types[i])
		for _, offering := range types[i].Offerings {
			offering.Available = available(offerOf(each, offering))
		}
	}
	return types
}

func (m *market) promising(o offer) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	since, failed := m.failed[o]
	return !failed || time.Since(since) > memory
}

func (m *market) remember(o offer) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.failed[o] = time.Now()
}

func (m *market) readShortages() ([]offer, error) {
	content, err := os.ReadFile(m.shortages)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the shortages, %w", err)
	}
	var short []offer
	if err := json.Unmarshal(content, &short); err != nil {
		return nil, fmt.Errorf("reading the shortages in %s, %w", m.shortages, err)
	}
	return short, nil
}

func isShort(short []offer, wanted offer) bool {
	for _, each := range short {
		if each.covers(wanted) {
			return true
		}
	}
	return false
}

func offerOf(of *cloudprovider.InstanceType, offering *cloudprovider.Offering) offer {
	return offer{InstanceType: of.Name, Zone: offering.Zone(), CapacityType: offering.CapacityType()}
}

// only returns the claim, narrowed to the types that can be bought: kwok's provider expects no other.
func only(claim *v1.NodeClaim, types []*cloudprovider.InstanceType) *v1.NodeClaim {
	narrowed := claim.DeepCopy()
	for i := range narrowed.Spec.Requirements {
		requirement := &narrowed.Spec.Requirements[i]
		if requirement.Key != corev1.LabelInstanceTypeStable {
			continue
		}
		var names []string
		for _, each := range types {
			for _, name := range requirement.Values {
				if name == each.Name && len(each.Offerings.Available()) > 0 {
					names = append(names, name)
				}
			}
		}
		requirement.Values = names
	}
	return narrowed
}
