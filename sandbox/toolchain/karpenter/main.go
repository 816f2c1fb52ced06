// karpenter runs Karpenter with the provider that makes kwok's simulated nodes. Around that provider stands a market:
// what a cloud adds to it, and an autoscaler must cope with. Machines run out, spot machines are wanted back, and a
// machine that was asked for comes even when whoever asked has died meanwhile.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	ctx, op := operator.NewOperator()
	if err := start(ctx, op); err != nil {
		log.FromContext(ctx).Error(err, "the market cannot open")
		os.Exit(1)
	}
}

func start(ctx context.Context, op *operator.Operator) error {
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return fmt.Errorf("reading the instance types, %w", err)
	}
	notice, err := span("INTERRUPTION_NOTICE")
	if err != nil {
		return err
	}
	repair, err := span("REPAIR_AFTER")
	if err != nil {
		return err
	}
	market := newMarket(op.GetClient(), types, os.Getenv("SHORTAGES_FILE_PATH"), repair)
	provider := overlay.Decorate(market, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), provider)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, provider, market, cluster, op.InstanceTypeStore,
	)...).WithControllers(ctx, &interruptions{
		client:   op.GetClient(),
		recorder: op.EventRecorder,
		market:   market,
		path:     os.Getenv("INTERRUPTIONS_FILE_PATH"),
		notice:   notice,
	}).Start(ctx)
	return nil
}

func span(variable string) (time.Duration, error) {
	found, err := time.ParseDuration(os.Getenv(variable))
	if err != nil {
		return 0, fmt.Errorf("reading %s, %w", variable, err)
	}
	return found, nil
}
