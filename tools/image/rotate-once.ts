import { chmod, copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { DEMO_PACE } from "../../src/cli/operator-options.ts";
import type { Kube } from "../../src/kube/port.ts";
import { connect } from "../../test/support/connect.ts";
import { KeyturnOperator } from "../../test/support/keyturn-operator.ts";
import { startKeyturnUp } from "../../test/support/keyturn-up.ts";
import type { ClosedRoot } from "./closed-root.ts";

/** Of the examples of `keyturn up`, the one that rotates most often. */
const EXAMPLE = "orders-db";
const COMMAND = "keyturn/bin/keyturn";
const KUBECONFIG = "etc/keyturn/kubeconfig";

/**
 * Runs the operator from the image's root against `keyturn up`, which runs from the same tree and has a folder to write to,
 * until it is ready and an example has got its second key; then tells it to end. Resolves to how long that took.
 */
export async function rotateOnce(closed: ClosedRoot, image: string, dataDirectory: string): Promise<string> {
  const flags = ["--no-operator", "--quiet", "--named", "off"];
  const up = await startKeyturnUp({ dataDirectory, flags, main: join(image, "keyturn", "dist", "start.js") });
  const kube = await connect(up.ready.kubeconfig);
  try {
    await placeKubeconfig(up.ready.kubeconfig, join(image, KUBECONFIG));
    return await runOperator(closed, kube);
  } finally {
    await kube.close();
    await up.stop("SIGTERM");
  }
}

/** As a file of a mounted Secret is: all may read it. */
async function placeKubeconfig(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
  await chmod(to, 0o444);
}

async function runOperator(closed: ClosedRoot, kube: Kube): Promise<string> {
  const words = ["operator", "--kubeconfig", closed.pathOf(KUBECONFIG), "--metrics-bind", "127.0.0.1:0"];
  const pace = ["--min-frequency", DEMO_PACE.minFrequency, "--min-rotate-after", DEMO_PACE.minRotateAfter];
  const startedAt = Date.now();
  const seconds = (): string => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  const operator = new KeyturnOperator(closed.start(COMMAND, [...words, ...pace]));
  try {
    await operator.ready();
    const readyAfter = seconds();
    await operator.until(`a key of ${EXAMPLE}`, async () => (await activeKey(kube)) !== undefined);
    const first = await activeKey(kube);
    await operator.until(`another key of ${EXAMPLE}`, async () => (await activeKey(kube)) !== first);
    const rotatedAfter = seconds();
    const { code } = await operator.stop("SIGTERM");
    if (code !== 0) throw new Error(`it ended with ${code}\n${operator.text}`);
    return `ready after ${readyAfter}, rotated after ${rotatedAfter}`;
  } finally {
    if (!operator.hasEnded) await operator.stop("SIGKILL");
  }
}

async function activeKey(kube: Kube): Promise<string | undefined> {
  const { status } = await kube.get(serviceBinding, { name: EXAMPLE });
  return (status as { readonly atProvider?: { readonly id?: string } } | undefined)?.atProvider?.id;
}
