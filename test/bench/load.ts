import { performance } from "node:perf_hooks";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { configMaps } from "../conformance/kinds.ts";

const DATA = { key: "v".repeat(200) };

/** Runs `count` tasks, `width` at a time, and tells how many were done in a second. */
export async function rate(count: number, width: number, task: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return count / ((performance.now() - startedAt) / 1000);
}

/** ConfigMaps from `from` on, created 16 at a time; returns creates a second. */
export function createObjects(
  kube: Kube,
  namespace: string,
  range: { readonly from: number; readonly count: number },
): Promise<number> {
  return rate(range.count, 16, (index) =>
    kube.create<KubeObject>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name: `object-${range.from + index}` },
      data: DATA,
    }),
  );
}

/** Seconds to list a namespace in pages of 500. */
export async function listSeconds(
  kube: Kube,
  namespace: string,
): Promise<{ readonly seconds: number; readonly count: number }> {
  const startedAt = performance.now();
  let count = 0;
  let token: string | undefined;
  do {
    const page = await kube.list(configMaps, {
      namespace,
      limit: 500,
      ...(token !== undefined && { continue: token }),
    });
    count += page.items.length;
    token = page.continue;
  } while (token !== undefined);
  return { seconds: (performance.now() - startedAt) / 1000, count };
}
