import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { keyFile } from "../../src/bind/bind-objects.fixture.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kind } from "../reconcile/bind-world.ts";
import type { BindScene } from "./bind-scene.ts";
import { type BindStage, OPERATOR_NAMESPACE } from "./bind-stage.ts";

/** The document's own manifests, as they stand there. */
const folder = join(import.meta.dirname, "..", "bind");
export const manifests: readonly string[] = globSync("manifests/*.yaml", { cwd: folder }).sort();

interface Choice {
  readonly rndcKey: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

/** Applied unmodified: all instances are ready, their named accepts what is published, and the status says what counts. */
export async function applyManifest(stage: BindStage, file: string): Promise<void> {
  const manifest = parse(readFileSync(join(folder, file), "utf8")) as KubeObject;
  const { kind, metadata } = manifest;
  const scene = await stage.scene("", metadata.namespace ?? OPERATOR_NAMESPACE);
  if (basename(file).startsWith("2")) {
    const stringData = { "rndc.key": keyFile(undefined, undefined, "mine") };
    await scene.create("Secret", "my-custom-rndc-key", { stringData });
  }
  await scene.apply(manifest);
  const golden = parseAllDocuments(readFileSync(join(folder, "golden", basename(file)), "utf8"));
  const choices = golden[0]?.toJS() as Readonly<Record<string, Choice>>;
  const isAvailable = async (): Promise<boolean> =>
    (await scene.condition(kind as Kind, metadata.name, "Ready")) === "True Available";
  await scene.until(`${kind} ${metadata.name} to be available`, isAvailable);
  for (const [name, choice] of Object.entries(choices)) await isAsChosen(scene, name, choice);
}

async function isAsChosen(scene: BindScene, name: string, { rndcKey, warnings }: Choice): Promise<void> {
  const said = async (): Promise<boolean> =>
    (await scene.condition("Bind9Instance", name, "Ready")) === "True Available";
  await scene.until(`${name} to be available`, said);
  const isDated = async (): Promise<boolean> => (await scene.choice(name)).nextRotation !== undefined;
  // What the key says of itself gets there a moment later.
  if (rndcKey.rotates === true) await scene.until(`${name} to say when its key is rotated`, isDated);
  const choice = await scene.choice(name);
  for (const [field, value] of Object.entries(rndcKey)) assert.deepEqual(choice[field], value, `${name}: ${field}`);
  assert.equal(await isDated(), rndcKey.rotates === true, `${name}: the next rotation is said where there is one`);
  const warned = await scene.condition("Bind9Instance", name, "Warning");
  for (const warning of warnings) assert.ok(warned.includes(warning), warned);
  const secret = String(choice.secretName);
  await scene.until(`${name} to let in whoever has ${secret}`, async () => (await scene.letIn(secret)) > 0);
  assert.ok(
    scene.pods(secret).some(({ instance }) => instance === name),
    `${name} uses ${secret}`,
  );
}
