"""Validates the Kubernetes objects on standard input, a JSON array, against the schemas of the versions given. Strict:
a property that Kubernetes does not know is a fault. Says every fault; exits with 1 if there is one."""

import json
import sys

import kubernetes_validate

resources = json.load(sys.stdin)
faults = []
for version in sys.argv[1:]:
    for resource in resources:
        name = f"{resource['kind']} {resource['metadata']['name']}"
        try:
            kubernetes_validate.validate(resource, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            path = ".".join(str(part) for part in error.path)
            faults.append(f"{name}, Kubernetes {version}: {path}: {error.message}")
        except kubernetes_validate.SchemaNotFoundError as error:
            faults.append(f"{name}, Kubernetes {version}: {error.message}")
if faults:
    sys.exit("\n".join(faults))
