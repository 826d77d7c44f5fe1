import assert from "node:assert/strict";
import { keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import type { Kind } from "../reconcile/bind-world.ts";
import type { BindScene } from "./bind-scene.ts";

/** Every place that a setting can stand in, for a primary instance, in the order in which they are to count. */
interface Place {
  readonly kind: Kind;
  readonly path: readonly string[];
  readonly level: string;
}

const LEVELS: readonly [kind: Kind, path: readonly string[], level: string][] = [
  ["Bind9Instance", [], "instance"],
  ["Bind9Cluster", ["primary"], "role"],
  ["ClusterBind9Provider", ["primary"], "role"],
  ["Bind9Cluster", ["global"], "global"],
  ["ClusterBind9Provider", ["global"], "global"],
];
const SETTINGS = ["rndcKeys", "rndcKey", "rndcSecretRef"];
const PLACES: readonly Place[] = LEVELS.flatMap(([kind, path, level]) =>
  SETTINGS.map((setting) => ({ kind, path: [...path, setting], level })),
);

const secretOf = ({ kind, path }: Place): string => `${kind}-${path.join("-")}`.toLowerCase();
const settingAt = (place: Place): object => {
  const ref = { name: secretOf(place) };
  return place.path.at(-1) === "rndcSecretRef" ? ref : { secretRef: ref };
};
const specOf = (path: readonly string[], value: object | null): object =>
  path.reduceRight<object | null>((inner, name) => ({ [name]: inner }), value) ?? {};

/**
 * A setting in all fifteen places, each with a Secret of its own; then the one that counts is taken away, again and again,
 * and the next one counts, down to the key that is generated when nobody says anything. No pod runs.
 */
export async function allPlaces(scene: BindScene): Promise<void> {
  const top = scene.namespace;
  const instance = `${top}-primary-0`;
  for (const place of PLACES) {
    await scene.create("Secret", secretOf(place), { stringData: { "rndc.key": keyFile() } });
  }
  const spec = { namespace: scene.namespace, primary: { replicas: 1 } };
  await scene.create("ClusterBind9Provider", top, { spec });
  await scene.until("the instance", async () => (await scene.get("Bind9Instance", instance)) !== undefined);
  await scene.patch("Bind9Instance", instance, { spec: { replicas: 0 } });
  const nameOf = ({ kind }: Place): string => (kind === "Bind9Instance" ? instance : top);
  const put = (place: Place, value: object | null): Promise<unknown> =>
    scene.patch(place.kind, nameOf(place), { spec: specOf(place.path, value) });
  for (const place of PLACES.toReversed()) await put(place, settingAt(place));
  for (const place of PLACES) {
    await scene.until(`${place.kind} ${place.path.join(".")} to count`, () => counts(scene, instance, place));
    await put(place, null);
  }
  await scene.until("nobody to say anything", async () => (await scene.choice(instance)).level === "default");
}

async function counts(scene: BindScene, instance: string, { kind, path, level }: Place): Promise<boolean> {
  const choice = await scene.choice(instance);
  const isSaid = choice.field === `spec.${path.join(".")}` && String(choice.source).startsWith(`${kind} `);
  if (!isSaid) return false;
  assert.deepEqual([choice.level, choice.mode], [level, "referenced"]);
  return choice.secretName === secretOf({ kind, path, level });
}

interface Row {
  readonly why: string;
  readonly cluster: object;
  readonly instance?: object;
  readonly level: string;
  readonly mode: string;
  readonly warns?: RegExp;
}

const theirs = { secretRef: { name: "theirs" } };

const rows: readonly Row[] = [
  {
    why: "the setting of the other role does not count",
    cluster: { secondary: { replicas: 0, rndcKeys: theirs } },
    level: "default",
    mode: "generated",
  },
  {
    why: "an empty setting is one",
    cluster: { primary: { replicas: 1, rndcKeys: {} }, global: { rndcKeys: theirs } },
    level: "role",
    mode: "generated",
  },
  {
    why: "secretRef goes before secret, and that is said",
    cluster: { global: { rndcKeys: { ...theirs, secret: { metadata: { name: "inline" } } } } },
    level: "global",
    mode: "referenced",
    warns: /spec\.global\.rndcKeys\.secret is ignored/,
  },
  {
    why: "autoRotate beside secretRef rotates nothing, and is warned about",
    cluster: { global: { rndcKeys: { ...theirs, autoRotate: true } } },
    level: "global",
    mode: "referenced",
    warns: /autoRotate says nothing beside secretRef/,
  },
  {
    why: "rndcKey beside rndcKeys is ignored",
    cluster: {},
    instance: { rndcKeys: {}, rndcKey: theirs },
    level: "instance",
    mode: "generated",
    warns: /spec\.rndcKey is ignored/,
  },
  {
    why: "the deprecated word counts, with a warning",
    cluster: { primary: { replicas: 1, rndcSecretRef: { name: "theirs" } } },
    level: "role",
    mode: "referenced",
    warns: /spec\.primary\.rndcSecretRef is deprecated/,
  },
];

/** What else there is to say about which setting counts, each on a cluster of its own. */
export async function otherCases(scene: BindScene): Promise<void> {
  await scene.create("Secret", "theirs", { stringData: { "rndc.key": keyFile() } });
  await Promise.all(
    rows.map(async ({ why, cluster, instance = {}, level, mode, warns }, index) => {
      const name = `case-${index}`;
      await scene.create("Bind9Cluster", name, { spec: { primary: { replicas: 1 }, ...cluster } });
      const first = `${name}-primary-0`;
      await scene.until(`${why}: the instance`, async () => (await scene.get("Bind9Instance", first)) !== undefined);
      await scene.patch("Bind9Instance", first, { spec: { replicas: 0, ...instance } });
      await scene.until(`${why}: ${level}`, async () => {
        const choice = await scene.choice(first);
        const isReady = (await scene.condition("Bind9Instance", first, "Ready")).startsWith("True");
        return isReady && choice.level === level && choice.mode === mode;
      });
      if (warns) assert.match(await scene.condition("Bind9Instance", first, "Warning"), warns, why);
      const mounted = fieldAt(await scene.get("Deployment", first), ["spec", "template", "spec", "volumes"]);
      const names = JSON.stringify(mounted);
      assert.equal(names.includes('"theirs"'), mode === "referenced", `${why}: what is mounted`);
    }),
  );
}
