"""The CRD bundles Flotilla can install, pinned. Renew one with `flotilla crds pin MODULE VERSION`."""

# ruff: noqa: E501 - one line a pin, so that a review shows each changed CRD as one changed line

from __future__ import annotations

from infra.core.crds.pins import CrdSource

TRAINING_OPERATOR = CrdSource(
    module="github.com/kubeflow/training-operator",
    version="v1.9.4",
    h1="h1:MjYXzeaHGBmF47BlhCo6+Mb7ypHrVfO6vsys1ZHF56A=",
    paths=("manifests/base/crds/*.yaml",),
    crds={
        "jaxjobs.kubeflow.org": "sha256:b3ee3ea7d24b2f6915d0d366c60cf9f540056b1997dc02599d1608bd74340732",
        "mpijobs.kubeflow.org": "sha256:571943b84b8a0db4d794f92d6103c9ae8241b42a8e65dfebb5966b7a6cd58909",
        "paddlejobs.kubeflow.org": "sha256:ad16b329d03846ae0bb9dd70650598dab06580c9197226accc16bacdcf7c4721",
        "pytorchjobs.kubeflow.org": "sha256:3dc2ee75a79b7ab1ba648d78bef3c6b8e2cdc7ca487c84702ac1fb18011c4396",
        "tfjobs.kubeflow.org": "sha256:b6aba17bfdbdcb53cdc8f853c27440a27c8a50e18d9a5e760448f0839cde9a6c",
        "xgboostjobs.kubeflow.org": "sha256:07ca4099b1b98d458325151628a7efde466519402d6c88beefe280cb7ae1b4ab",
    },
)

ISTIO = CrdSource(
    module="istio.io/api",
    version="v1.30.1",
    h1="h1:RJM0mxLzaoIA0wvd+xNoPL1H5hCntKovrIFSRIyhtTw=",
    paths=("kubernetes/customresourcedefinitions.gen.yaml",),
    crds={
        "authorizationpolicies.security.istio.io": "sha256:f2122632c15883941e9305e421c7b5447ab77958ff9deb38fd671581baa688c1",
        "destinationrules.networking.istio.io": "sha256:3e4d82eff7b51e6ae0cdc876f0a655c34e30ec9f0564bbf802997f8fb44142f9",
        "envoyfilters.networking.istio.io": "sha256:d16c4fb3c587dfceadd7fd9bb9d3ad7b830b271e5372c1e8a3061fb3ce3ad6fd",
        "gateways.networking.istio.io": "sha256:46ddb7d3919024462bdf2f201cfd74043d50e78cd3e65ea1707f6c09ae287b8e",
        "peerauthentications.security.istio.io": "sha256:70a20102521cadedc16926f811915e58f551c21c4e353e09e6c691831d0b24d3",
        "proxyconfigs.networking.istio.io": "sha256:4fca060091c710def8a47f7e525bbdf11c6a64ff1100271f88080bbe12cbb0d3",
        "requestauthentications.security.istio.io": "sha256:8a96bfc0c0ea5c9698b5516263aa2546a7f4e0a4ad6b7eea264084aa8d8aa1af",
        "serviceentries.networking.istio.io": "sha256:ca975feea8cbcc217ec6c546d7011bdc302c07239576f4b642c195e065d8153c",
        "sidecars.networking.istio.io": "sha256:1438ed5425961462d46354d6a37773d825cb97140f8ddb5f0992f02df78a6177",
        "telemetries.telemetry.istio.io": "sha256:a9c4d116ced51f55815308cfe36ee50d6b404c8da5c5b1a249c3081485bd2b75",
        "trafficextensions.extensions.istio.io": "sha256:7a2d30c54777abd08606d52a72b734d1f8737b56437e3254e35112ac791a5af2",
        "virtualservices.networking.istio.io": "sha256:2812cc3f66ed1767fb8473065ff9ae8a87862ec9a416cd6a4601159fa73f8cb1",
        "wasmplugins.extensions.istio.io": "sha256:d4cca5636b7d8bd798c8943b2fa458efbbfa62ae1f346eb930003978f81d70ea",
        "workloadentries.networking.istio.io": "sha256:8c63bd63948e08b896fcc32188749f725d6d57055ea821e5a94af9b87a62826e",
        "workloadgroups.networking.istio.io": "sha256:8e1b6ce0ee2792011b5e1d1d1dad5cb723ba8d4b02123f5436b144aad2172f7a",
    },
)

KARPENTER = CrdSource(
    module="sigs.k8s.io/karpenter",
    version="v1.8.0",
    h1="h1:AmTHUPtnuL8IX9mbcD3NOohyk62idrBCBtM+8Wn6Jvk=",
    paths=("pkg/apis/crds/*.yaml",),
    crds={
        "nodeclaims.karpenter.sh": "sha256:d9e70a59342b55a7fed3b19f5cc13cedd841ffe79eedac233e6e1e18daa3ee2f",
        "nodeoverlays.karpenter.sh": "sha256:b78d509015a32c6df418a12fcf9a7016acd761f770d15e58832f92ac19935728",
        "nodepools.karpenter.sh": "sha256:119aed5b1517e891913c8aec3a81d05b1aadefab67a1e3a819a06b4b26b89430",
    },
)

ALL = (TRAINING_OPERATOR, ISTIO, KARPENTER)
