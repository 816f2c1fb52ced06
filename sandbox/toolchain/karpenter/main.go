// karpenter runs Karpenter with the provider that makes kwok's simulated nodes. Around that provider stands a market:
// what a cloud adds to it, and an autoscaler must cope with. Machines run out, and a machine that was asked for comes
// even when whoever asked has died meanwhile.
package main

import (
	"os"

	"sigs.k8s.io/controller-runtime/pkg/log"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	ctx, op := operator.NewOperator()
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "instance types cannot be read")
		os.Exit(1)
	}
	market := newMarket(op.GetClient(), types, os.Getenv("SHORTAGES_FILE_PATH"))
	provider := overlay.Decorate(market, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), provider)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, provider, market, cluster, op.InstanceTypeStore,
	)...).Start(ctx)
}
