// pulumi-resource-kubernetes serves the Kubernetes provider. The provider's own main embeds generated files that its
// module lacks; the schema is needed for generating SDKs only.
package main

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"

// The linker sets it to the version of the Python SDK.
var version = "unknown"

func main() {
	schema := []byte(`{"name":"kubernetes","version":"` + version + `"}`)
	provider.Serve("kubernetes", "v"+version, schema, []byte("{}"))
}
