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
    version="v1.14.1",
    h1="h1:GjqvOHLjl2+OXM0ti5VEZSQuvcitB0pETd8zdChXEtI=",
    paths=("pkg/apis/crds/karpenter.sh_*.yaml", "kwok/apis/crds/*.yaml"),
    crds={
        "kwoknodeclasses.karpenter.kwok.sh": "sha256:93d05c558fba741c2c286a7f8c0686a7225530e5b1977a32ce904fb6d26389c9",
        "nodeclaims.karpenter.sh": "sha256:c206c09513f35aa3176453d3b3f9e85a9a4517b530a09658d7a784ebd2e5b624",
        "nodeoverlays.karpenter.sh": "sha256:ede1a52c8ef148c2ca9344b1b25859ca10102f05a30bcf24f0dbc622e920654c",
        "nodepools.karpenter.sh": "sha256:ab4d9264f67fab1d07412339f9e200c9aa918df6951f427eecf6e6813e8cd9d5",
    },
)
"""The core's schemas and those of the provider for kwok."""

KARPENTER_AWS = CrdSource(
    module="github.com/aws/karpenter-provider-aws",
    version="v1.14.1",
    h1="h1:WGtIQTQcxpElYMdWfWuPwaF2+9muR+hYhPZsTtoY8Gs=",
    paths=("pkg/apis/crds/karpenter*.yaml",),
    crds={
        "ec2nodeclasses.karpenter.k8s.aws": "sha256:42e2853499062e4a6e1eec077cc437a6ed7154a360c7125e0c294bcedf35d0f9",
        "nodeclaims.karpenter.sh": "sha256:8ff7a6127d64da5ef5973ceb6893c5dcce84c0fec0ff778f6f0fe68f92ec94b2",
        "nodeoverlays.karpenter.sh": "sha256:b790940e449f902068629e48cc8ac577498514bc9277f9041ad0cfa6362948c3",
        "nodepools.karpenter.sh": "sha256:0ab87f950e447b762bfe10dab9c6f1f43bcd2fca2788c767805232e8e040885a",
    },
)
"""The provider narrows the core's schemas, so it ships all of them."""

SNAPSHOTS = CrdSource(
    module="github.com/kubernetes-csi/external-snapshotter/client/v8",
    version="v8.6.0",
    h1="h1:FtGewu2k6HWw6evLGXY8JqUZ9eHpti1kd3e4amj+ilA=",
    paths=("config/crd/snapshot.storage.k8s.io_*.yaml",),
    crds={
        "volumesnapshotclasses.snapshot.storage.k8s.io": "sha256:bba52a46601c6a777fe20afc5ea6c7042dcb540459b6be2c6b61b91407904afb",
        "volumesnapshotcontents.snapshot.storage.k8s.io": "sha256:69e95aa773f1a603efd2adde817b17bbf1b4de50a6ec19502d174c77f54feafb",
        "volumesnapshots.snapshot.storage.k8s.io": "sha256:a2721f1bfbc9c920f9727ca46b0650a221656cfc5a70fce41e3257b13d33c02a",
    },
)

CLOUDNATIVE_PG = CrdSource(
    module="github.com/cloudnative-pg/cloudnative-pg",
    version="v1.30.0",
    h1="h1:fnhVq44xXx97MNiuvJsPrX1vSjYbgdyBK5MSGfdHdp0=",
    paths=("config/crd/bases/*.yaml",),
    crds={
        "backups.postgresql.cnpg.io": "sha256:0edc9a5d9cb364c222027446e098afa2a01d36f0ad295673c4140cf840cc6b34",
        "clusterimagecatalogs.postgresql.cnpg.io": "sha256:2d66e80ddd95f5b384904b87f7458d892d59816f3c5ec580df6e2d6e29be0984",
        "clusters.postgresql.cnpg.io": "sha256:c8345af1270d474f1242fec05df112f6407ad9da77648cbccc6c0f165683dc2b",
        "databaseroles.postgresql.cnpg.io": "sha256:7caa883ca8b9ba88d7e93fd4a2bb90a2fafc7283cb7d2b1e71bef5bb1cc67896",
        "databases.postgresql.cnpg.io": "sha256:0255a067ae5d09aed86b688d427ab8d64c69e2a10bd5854b299d66085d186956",
        "failoverquorums.postgresql.cnpg.io": "sha256:da0a47d1a790bf66e78833e6aa17a534a865c4f6a4edbada10797e0ee3d13524",
        "imagecatalogs.postgresql.cnpg.io": "sha256:31f4091c3db6c8d2cfdd8cfafb28110e63f955259cf339b4bb0e19d9b2cc53ea",
        "poolers.postgresql.cnpg.io": "sha256:85525ea1a6171d85ffd766b8601a4ee3cdcc2778d47b759c74858e933edd0c8c",
        "publications.postgresql.cnpg.io": "sha256:eb40c10752eb081f7626edfc91f5a958a1bdaa3cbe45694b43ebd607de9d5e7d",
        "scheduledbackups.postgresql.cnpg.io": "sha256:847eadae52f735d89410879007f8614666ab63764b15845ce776779c3789332d",
        "subscriptions.postgresql.cnpg.io": "sha256:79af1ce105213ad5631cdb5cf92b6848807960dae8cf79ffddf2bb2f93f1cb71",
    },
)

MOCO = CrdSource(
    module="github.com/cybozu-go/moco",
    version="v0.36.0",
    h1="h1:KdWQ0SqFrE8KqnO7rkgKdI9X4wZdyaBNPuJd6LHy0uY=",
    paths=("config/crd/bases/*.yaml",),
    crds={
        "backuppolicies.moco.cybozu.com": "sha256:c101c41c7346f6e24189aca4b706acbda96cb428909514e80071d3e1f3afef23",
        "mysqlclusters.moco.cybozu.com": "sha256:daf8f0aa5412acad99a264d10ff23c25c249a37150e9d80e91f7e09d6d365fba",
    },
)
"""Schemas of the databases' operators, which bring them; the sandbox, where they do not run, takes them from here."""

KUEUE = CrdSource(
    module="sigs.k8s.io/kueue",
    version="v0.15.2",
    h1="h1:UYjEd8lx3Am1njcvpyEO/QkwCFerE6WW6qaaXNYg768=",
    paths=("config/components/crd/bases/*.yaml",),
    crds={
        "admissionchecks.kueue.x-k8s.io": "sha256:b583de5f01804381973a6b8f0363dcb4eecbbc96d2c0d005bd59af2241bfe89f",
        "clusterqueues.kueue.x-k8s.io": "sha256:223d74accf10cf321a7b13b11b69c1f9a3430115313c1ba3948ebf6d4335b581",
        "cohorts.kueue.x-k8s.io": "sha256:91faff6d3651c9569af8626e07e2e89a032511e7ebb7796837b87ec3aadcd424",
        "localqueues.kueue.x-k8s.io": "sha256:534dc6d1830c9614a12bf6e3f19b20e4583cfdc8d7872316fc9a47f5a9a182f7",
        "multikueueclusters.kueue.x-k8s.io": "sha256:f57e259939b584a48e30a24bc4778ec51563f03a4a5265553d5e8f03f102485c",
        "multikueueconfigs.kueue.x-k8s.io": "sha256:53b528825df3990d9a829084c711ff0cb16907ff9d3e42e78f5f7e04a081ca1f",
        "provisioningrequestconfigs.kueue.x-k8s.io": "sha256:46ff7c0fb3e684b960022ad8487686bc680993be7cc15bffe1202d273595d0aa",
        "resourceflavors.kueue.x-k8s.io": "sha256:27d0d641908ff78eea7d8dd21782b4f6f5197e4cbe0d5a46021e9bcfdb5aa1b4",
        "topologies.kueue.x-k8s.io": "sha256:9fd6a8fc0e8c170a83bacb7bbd0a7f9d37b436dde5f5125a5e0e2979a4e0bcf7",
        "workloadpriorityclasses.kueue.x-k8s.io": "sha256:8c6682a2a2e3c7ba0393030e6c6715c5ad59e674ebb6c5e81134e90106cfbbe9",
        "workloads.kueue.x-k8s.io": "sha256:c274480590b3cfd82216d3a33d19e14a2031080d59f2b75a39bac5f014445f46",
    },
)
"""Kueue's chart brings its schemas, with the webhook that converts between their versions; the sandbox takes these."""

SCHEDULER_PLUGINS = CrdSource(
    module="sigs.k8s.io/scheduler-plugins",
    version="v0.34.7",
    h1="h1:GENSA4rKpCKBrPvNSo2AV2QHU7j3a6LT14kNlHhXfeg=",
    paths=("config/crd/bases/scheduling.x-k8s.io_podgroups.yaml",),
    crds={
        "podgroups.scheduling.x-k8s.io": "sha256:82edcbf846b6bde18ed360f0e651114251259a6712229412a95ba4e347fecfac",
    },
)
"""The kind by which the training operator tells the gang scheduler which pods belong together."""

ALL = (TRAINING_OPERATOR, ISTIO, KARPENTER, KARPENTER_AWS, SNAPSHOTS, CLOUDNATIVE_PG, MOCO, KUEUE, SCHEDULER_PLUGINS)
