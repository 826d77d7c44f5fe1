import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, refused } from "../expectations.ts";
import { configMaps, events, pods, secrets } from "../kinds.ts";
import { configMap, pod, secret } from "../manifests.ts";
import type { World } from "../world.ts";

interface LabelCase {
  readonly selector: string;
  readonly selects: readonly string[];
}

const labelled: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  blue: { app: "web", color: "blue", "x.dev/tier": "1" },
  red: { app: "web", color: "red" },
  plain: { app: "db" },
  bare: {},
};

const labelCases: readonly LabelCase[] = [
  { selector: "app=web", selects: ["blue", "red"] },
  { selector: "app==web", selects: ["blue", "red"] },
  { selector: "app!=web", selects: ["bare", "plain"] },
  { selector: "color", selects: ["blue", "red"] },
  { selector: "!color", selects: ["bare", "plain"] },
  { selector: "color in (blue, green)", selects: ["blue"] },
  { selector: "color notin (blue)", selects: ["bare", "plain", "red"] },
  { selector: "app=web,color!=red", selects: ["blue"] },
  { selector: "x.dev/tier=1", selects: ["blue"] },
  { selector: "x.dev/tier>0", selects: ["blue"] },
  { selector: "x.dev/tier<1", selects: [] },
  { selector: "color=", selects: [] },
];

async function labelledObjects(world: World): Promise<string> {
  const namespace = await world.namespace();
  for (const [name, labels] of Object.entries(labelled)) {
    await world.kube.create(configMaps, configMap(namespace, name, {}, labels));
  }
  return namespace;
}

const withoutRootCertificate = "metadata.name!=kube-root-ca.crt";

/** Which objects a selector means. */
export const selectors: BehaviourGroup = {
  name: "selectors",
  behaviours: [
    behaviour("label selectors in every form", async (world) => {
      const namespace = await labelledObjects(world);
      for (const { selector, selects } of labelCases) {
        const options = { namespace, labelSelector: selector, fieldSelector: withoutRootCertificate };
        const { items } = await world.kube.list(configMaps, options);
        assert.deepEqual(
          items.map((item) => item.metadata.name),
          selects,
          selector,
        );
      }
    }),
    behaviour("a label selector that cannot be parsed is refused", async (world) => {
      const namespace = await world.namespace();
      for (const labelSelector of ["a in", "a=b=c", "==", "a in (b", "bad key=x"]) {
        const call = world.kube.list(configMaps, { namespace, labelSelector });
        await refused(call, { status: 400, code: "BadRequest" });
      }
    }),
    behaviour("field selectors on name and namespace", async (world) => {
      const namespace = await labelledObjects(world);
      const names = async (fieldSelector: string): Promise<string[]> =>
        (await world.kube.list(configMaps, { namespace, fieldSelector })).items.map((item) => item.metadata.name);
      assert.deepEqual(await names("metadata.name=red"), ["red"]);
      assert.deepEqual(await names(`metadata.namespace=${namespace},metadata.name=blue`), ["blue"]);
      assert.deepEqual(await names("metadata.namespace=elsewhere"), []);
      assert.deepEqual(await names(`${withoutRootCertificate},metadata.name!=red`), ["bare", "blue", "plain"]);
    }),
    behaviour("Secrets are selected by type", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "plain", {}));
      await world.kube.create(secrets, secret(namespace, "special", { type: "x.dev/special" }));
      const list = await world.kube.list(secrets, { namespace, fieldSelector: "type=x.dev/special" });
      assert.deepEqual(
        list.items.map((item) => item.metadata.name),
        ["special"],
      );
    }),
    behaviour("Pods are selected by phase and node", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(pods, pod(namespace, "a"));
      const watching = world.watch(pods, { namespace, fieldSelector: "status.phase=Running" });
      assert.equal(await watching.nextChange(), "ADDED a", "it comes into view when it runs");
      const none = await world.kube.list(pods, { namespace, fieldSelector: "status.phase=Failed" });
      assert.deepEqual(none.items, []);
      const unscheduled = await world.kube.list(pods, { namespace, fieldSelector: "spec.nodeName=" });
      assert.deepEqual(unscheduled.items, []);
    }),
    behaviour("Events are selected by what they are about", async (world) => {
      const namespace = await world.namespace();
      const event = (name: string, about: string) => ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace, name },
        involvedObject: { kind: "ConfigMap", apiVersion: "v1", namespace, name: about },
        reason: "Tested",
        type: "Normal",
      });
      await world.kube.create(events, event("one", "a"));
      await world.kube.create(events, event("two", "b"));
      const fieldSelector = "involvedObject.kind=ConfigMap,involvedObject.name=b,reason=Tested";
      const list = await world.kube.list(events, { namespace, fieldSelector });
      assert.deepEqual(
        list.items.map((item) => item.metadata.name),
        ["two"],
      );
    }),
    behaviour("a field that cannot be selected by is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/configmaps?fieldSelector=data.key%3Dvalue`);
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: /"data\.key" is not a known field selector|field label not supported: data\.key/,
      });
    }),
    behaviour("custom resources are selected by their selectable fields", async (world) => {
      const spec = { type: "object", properties: { color: { type: "string" } } };
      const type = await world.defineKind({
        schema: { type: "object", properties: { spec } },
        version: { selectableFields: [{ jsonPath: ".spec.color" }] },
      });
      const namespace = await world.namespace();
      for (const color of ["red", "blue"]) {
        const metadata = { namespace, name: color };
        await world.kube.create(type, { apiVersion: `${type.group}/v1`, kind: type.kind, metadata, spec: { color } });
      }
      const list = await world.kube.list(type, { namespace, fieldSelector: "spec.color=blue" });
      assert.deepEqual(
        list.items.map((item) => item.metadata.name),
        ["blue"],
      );
      await refused(world.kube.list(type, { namespace, fieldSelector: "spec.size=1" }), {
        status: 400,
        code: "BadRequest",
      });
    }),
  ],
};
