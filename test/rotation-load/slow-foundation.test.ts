import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { KubeObject } from "../../src/kube/objects.ts";
import { putSecret } from "../../src/reconcile/objects.fixture.ts";
import { SandboxCloudFoundry } from "../../src/sandbox/cloud-foundry/sandbox-cloud-foundry.ts";
import { inMs } from "../bench/many-bindings.ts";
import { LatenessWatch } from "../bench/punctuality.ts";
import { cloudFoundry as family } from "../families/cloud-foundry.ts";
import type { SandboxHttp } from "../providers/sandbox-http.ts";
import { VirtualOperator } from "./virtual-operator.ts";

const MINUTE_MS = 60_000;
/** Far more than are worked on at a time fall due within seconds at a foundation that is ill; then some where all is well. */
const ILL = { port: 2, count: 120, spreadMs: 10_000 };
const WELL = { port: 3, count: 40, spreadMs: 2 * MINUTE_MS };

interface Foundation {
  readonly sandbox: SandboxCloudFoundry;
  readonly http: SandboxHttp;
}

const illnesses: readonly (readonly [reason: string, fall: (foundation: Foundation) => void])[] = [
  ["takes 5 s for each answer", ({ sandbox }) => sandbox.controls.set({ latencyMs: 5_000 })],
  [
    "does not answer at all",
    ({ http }) => {
      http.isSilent = true;
    },
  ],
];

for (const [reason, fall] of illnesses) {
  test(`a foundation that ${reason} does not delay the rotations at another one`, async (context) => {
    const world = new VirtualOperator();
    await world.start();
    context.after(() => world.stop());
    const watch = new LatenessWatch({ kube: world.kube, family }, world.clock);
    context.after(() => watch.stop());
    const ill = await foundation(world, "ill", ILL);
    await foundation(world, "well", WELL);
    await world.pass(MINUTE_MS, 1000);
    await world.pass(8 * MINUTE_MS, MINUTE_MS);
    fall(ill);
    await world.pass(4 * MINUTE_MS);
    assertPunctual(context, watch);
  });
}

/** Rotations at the foundation that is well begin within a second of being due, and end within another. */
function assertPunctual(context: TestContext, { latenessMs, doneMs }: LatenessWatch): void {
  const of = (times: ReadonlyMap<string, number>): readonly number[] =>
    [...times].filter(([name]) => name.startsWith("well-")).map(([, lengthMs]) => lengthMs);
  const [begun, done] = [of(latenessMs), of(doneMs)];
  context.diagnostic(
    `the latest began ${Math.max(...begun)} ms after it was due, and ended ${Math.max(...done)} ms after`,
  );
  assert.deepEqual([begun.length, done.length], [WELL.count, WELL.count]);
  assert.ok(Math.max(...begun) <= 1000, `a rotation began ${Math.max(...begun)} ms after it was due`);
  assert.ok(Math.max(...done) <= 2000, `a rotation ended ${Math.max(...done)} ms after it was due`);
}

/** A Cloud Foundry with a ProviderConfig and so many keys, which fall due one after the other in ten minutes from now. */
async function foundation(
  world: VirtualOperator,
  name: string,
  { port, count, spreadMs }: typeof ILL,
): Promise<Foundation> {
  const url = `http://127.0.0.1:${port}`;
  const sandbox = new SandboxCloudFoundry({ clock: world.clock, random: world.random, url });
  // Longer than the test: a log-in has its own time-out.
  sandbox.controls.set({ tokenLifetimeMs: 60 * MINUTE_MS });
  const http = world.addSystem(url, sandbox);
  const { kube } = world;
  const secretRef = { namespace: "default", name };
  await putSecret(kube, secretRef, { credentials: JSON.stringify(sandbox.controls.issueLogin(url)) });
  await kube.create<KubeObject>(family.configType, family.config(name, { ...secretRef, key: "credentials" }));
  const instanceId = sandbox.controls.putInstance().id;
  for (let index = 0; index < count; index++) {
    const frequency = inMs(10 * MINUTE_MS + (spreadMs * index) / count);
    const binding = family.manifest({
      name: `${name}-${index}`,
      instanceId,
      config: name,
      secretRef: { namespace: "default", name: `${name}-${index}` },
      rotation: { frequency, ttl: "240h" },
    });
    await kube.create<KubeObject>(family.type, binding);
  }
  return { sandbox, http };
}
