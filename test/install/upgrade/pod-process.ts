import assert from "node:assert/strict";
import type { KubeObject } from "../../../src/kube/objects.ts";

/** How the pods of a Deployment run the operator, for whoever starts it as a process instead. */
export interface PodProcess {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
}

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

/** Where a process serves its metrics is up to the machine that it runs on; all else is as in a pod. */
export function processOf({ spec }: KubeObject): PodProcess {
  const { template } = spec as {
    readonly template: {
      readonly spec: { readonly serviceAccountName: string; readonly containers: readonly Container[] };
    };
  };
  const [container, ...others] = template.spec.containers;
  assert.ok(container && others.length === 0, "there is one container");
  const [command, ...flags] = container.args;
  assert.equal(command, "operator");
  const environment = (container.env ?? []).map(({ name, value }) => [name, value ?? assert.fail(name)] as const);
  return {
    flags: flags.filter((flag) => !flag.startsWith("--metrics-bind=")),
    environment: Object.fromEntries(environment),
    serviceAccount: template.spec.serviceAccountName,
  };
}
