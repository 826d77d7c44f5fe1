import assert from "node:assert/strict";
import type { KubeObject } from "../../../src/kube/objects.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused, settles } from "../expectations.ts";
import { configMaps, policies, policyBindings } from "../kinds.ts";
import { configMap } from "../manifests.ts";
import { fromInput, input, succeed } from "../run-kubectl.ts";
import type { Answer } from "../wire.ts";
import type { World } from "../world.ts";

const API_VERSION = "admissionregistration.k8s.io/v1";

const forConfigMaps = (operations: readonly string[] = ["CREATE", "UPDATE"]): object => ({
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations }],
});

const policy = (name: string, spec: object): KubeObject => ({
  apiVersion: API_VERSION,
  kind: "ValidatingAdmissionPolicy",
  metadata: { name },
  spec: { matchConstraints: forConfigMaps(), ...spec },
});

const binding = (name: string, spec: object): KubeObject => ({
  apiVersion: API_VERSION,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name },
  spec: { policyName: name, validationActions: ["Deny"], ...spec },
});

/** Installs a policy that looks at the behaviour's namespace only. */
async function install(world: World, spec: object, validationActions: readonly string[] = ["Deny"]): Promise<string> {
  const name = world.unique("policy");
  const matchLabels = { "kubernetes.io/metadata.name": await world.namespace() };
  world.removeAtEnd(policyBindings, name);
  world.removeAtEnd(policies, name);
  await world.kube.create(policies, policy(name, spec));
  const matchResources = { namespaceSelector: { matchLabels } };
  await world.kube.create(policyBindings, binding(name, { validationActions, matchResources }));
  return name;
}

/** A create that is only tried; a ConfigMap's data is what the policies here are about. */
async function attempt(world: World, data: Readonly<Record<string, string>>): Promise<Answer> {
  const namespace = await world.namespace();
  return world.wire.post(`/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, configMap(namespace, "a", data));
}

/** Policies take a moment to be seen: tries until this data is judged so. */
const judged = (world: World, data: Readonly<Record<string, string>>, status: number): Promise<void> =>
  settles(async () => {
    const answer = await attempt(world, data);
    assert.equal(answer.status, status, answer.text);
  });

const isGood = { expression: "object.data.mood == 'good'", message: "the mood is bad" };

interface RefusedPolicy {
  readonly why: string;
  readonly spec: object;
  readonly field: string;
  readonly message: RegExp;
}

const refusedPolicies: readonly RefusedPolicy[] = [
  {
    why: "nothing is matched",
    spec: { matchConstraints: undefined, validations: [isGood] },
    field: "spec.matchConstraints",
    message: /spec\.matchConstraints: Required value/,
  },
  {
    why: "a rule without operations",
    spec: { matchConstraints: forConfigMaps([]), validations: [isGood] },
    field: "spec.matchConstraints.resourceRules[0].operations",
    message: /operations: Required value/,
  },
  {
    why: "an operation that there is not",
    spec: { matchConstraints: forConfigMaps(["WATCH"]), validations: [isGood] },
    field: "spec.matchConstraints.resourceRules[0].operations[0]",
    message: /Unsupported value: "WATCH"/,
  },
  {
    why: "an expression that is none",
    spec: { validations: [{ expression: "object.data." }] },
    field: "spec.validations[0].expression",
    message: /compilation failed: ERROR: <input>:1:/,
  },
  {
    why: "an expression that gives a text",
    spec: { validations: [{ expression: "'yes'" }] },
    field: "spec.validations[0].expression",
    message: /must evaluate to bool but got string/,
  },
  {
    why: "an unknown field of the request",
    spec: { validations: [{ expression: "request.mood == 'good'" }] },
    field: "spec.validations[0].expression",
    message: /undefined field 'mood'/,
  },
  {
    why: "a variable that was never declared",
    spec: { variables: [{ name: "a", expression: "1" }], validations: [{ expression: "variables.b == 1" }] },
    field: "spec.validations[0].expression",
    message: /undefined field 'b'/,
  },
  {
    why: "a variable with an impossible name",
    spec: { variables: [{ name: "a-b", expression: "1" }], validations: [isGood] },
    field: "spec.variables[0].name",
    message: /must be a valid CEL identifier/,
  },
  {
    why: "variables in a match condition",
    spec: {
      variables: [{ name: "a", expression: "true" }],
      matchConditions: [{ name: "c", expression: "variables.a" }],
      validations: [isGood],
    },
    field: "spec.matchConditions[0].expression",
    message: /undeclared reference to 'variables'/,
  },
  {
    why: "a message over several lines",
    spec: { validations: [{ ...isGood, message: "one\ntwo" }] },
    field: "spec.validations[0].message",
    message: /must not contain line breaks/,
  },
  {
    why: "a messageExpression that gives a number",
    spec: { validations: [{ ...isGood, messageExpression: "1" }] },
    field: "spec.validations[0].messageExpression",
    message: /must evaluate to string but got int/,
  },
  {
    why: "a reason that there is not",
    spec: { validations: [{ ...isGood, reason: "Bad" }] },
    field: "spec.validations[0].reason",
    message: /Unsupported value: "Bad"/,
  },
];

const refusedBindings: readonly RefusedPolicy[] = [
  {
    why: "no action",
    spec: { validationActions: [] },
    field: "spec.validationActions",
    message: /Required value/,
  },
  {
    why: "an action that there is not",
    spec: { validationActions: ["Shout"] },
    field: "spec.validationActions[0]",
    message: /Unsupported value: "Shout"/,
  },
  {
    why: "Deny and Warn together",
    spec: { validationActions: ["Deny", "Warn"] },
    field: "spec.validationActions",
    message: /must not contain both Deny and Warn/,
  },
  { why: "no policy", spec: { policyName: "" }, field: "spec.policyName", message: /Required value/ },
];

const messages: readonly { readonly why: string; readonly validation: object; readonly message: string }[] = [
  { why: "its message", validation: isGood, message: "the mood is bad" },
  {
    why: "its messageExpression before its message",
    validation: { ...isGood, messageExpression: "'mood: ' + object.data.mood" },
    message: "mood: bad",
  },
  {
    why: "its message where the messageExpression fails",
    validation: { ...isGood, messageExpression: "'mood: ' + object.data.other" },
    message: "the mood is bad",
  },
  {
    why: "the expression where there is no message",
    validation: { expression: isGood.expression },
    message: "failed expression: object.data.mood == 'good'",
  },
];

/** ValidatingAdmissionPolicies and their bindings. */
export const admissionPolicies: BehaviourGroup = {
  name: "admission policies",
  behaviours: [
    ...refusedPolicies.map(({ why, spec, field, message }) =>
      behaviour(`a policy is refused: ${why}`, async (world) => {
        const call = world.kube.create(policies, policy(world.unique("policy"), spec), { dryRun: true });
        await refused(call, { status: 422, code: "Invalid", message, fields: [field] });
      }),
    ),
    ...refusedBindings.map(({ why, spec, field, message }) =>
      behaviour(`a binding is refused: ${why}`, async (world) => {
        const call = world.kube.create(policyBindings, binding(world.unique("policy"), spec), { dryRun: true });
        await refused(call, { status: 422, code: "Invalid", message, fields: [field] });
      }),
    ),
    ...messages.map(({ why, validation, message }) =>
      behaviour(`what is denied is told ${why}`, async (world) => {
        const name = await install(world, { validations: [validation] });
        await judged(world, { mood: "bad" }, 422);
        const answer = await attempt(world, { mood: "bad" });
        const denied = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${message}`;
        assertStatus(answer, { status: 422, reason: "Invalid", message: `configmaps "a" is forbidden: ${denied}` });
        assert.deepEqual(at(answer.body, "details"), { name: "a", kind: "configmaps", causes: [{ message: denied }] });
        assert.equal((await attempt(world, { mood: "good" })).status, 201);
      }),
    ),
    behaviour("a reason of one's own has its own code", async (world) => {
      await install(world, { validations: [{ ...isGood, reason: "Forbidden" }] });
      await judged(world, { mood: "bad" }, 403);
      assertStatus(await attempt(world, { mood: "bad" }), { status: 403, reason: "Forbidden" });
    }),
    behaviour("Warn lets the write pass and says why in a header", async (world) => {
      const name = await install(world, { validations: [isGood, { expression: "false", message: "never" }] }, ["Warn"]);
      const origin = `Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}'`;
      await settles(async () => {
        const answer = await attempt(world, { mood: "bad" });
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.headers.warning, `299 - "${origin}: the mood is bad", 299 - "${origin}: never"`);
      });
    }),
    behaviour("variables are known to what follows them", async (world) => {
      await install(world, {
        variables: [
          { name: "mood", expression: "object.data.mood" },
          { name: "length", expression: "size(variables.mood)" },
        ],
        validations: [
          { expression: "variables.length < 5", messageExpression: "string(variables.length) + ' letters'" },
        ],
      });
      await judged(world, { mood: "terrible" }, 422);
      assert.match((await attempt(world, { mood: "terrible" })).text, /denied request: 8 letters/);
      assert.equal((await attempt(world, { mood: "good" })).status, 201);
    }),
    behaviour("a match condition that does not hold leaves the request alone", async (world) => {
      await install(world, {
        matchConditions: [
          { name: "has-a-mood", expression: "has(object.data) && has(object.data.mood)" },
          { name: "is-tried", expression: "request.dryRun" },
        ],
        validations: [isGood],
      });
      await judged(world, { mood: "bad" }, 422);
      assert.equal((await attempt(world, { other: "x" })).status, 201);
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "kept", { mood: "bad" }));
    }),
    behaviour("an expression that fails denies where the failure policy is Fail", async (world) => {
      await install(world, { validations: [isGood] });
      await judged(world, { mood: "bad" }, 422);
      const answer = await attempt(world, { other: "x" });
      assert.equal(answer.status, 422);
      assert.match(
        answer.text,
        /denied request: expression 'object\.data\.mood == 'good'' resulted in error: no such key: mood/,
      );
    }),
    behaviour("an expression that fails denies nothing where it is Ignore", async (world) => {
      await install(world, { failurePolicy: "Ignore", validations: [isGood] });
      await judged(world, { mood: "bad" }, 422);
      assert.equal((await attempt(world, { other: "x" })).status, 201);
    }),
    behaviour("an update is judged by what was and what is to be", async (world) => {
      await install(world, {
        matchConstraints: forConfigMaps(["UPDATE"]),
        validations: [
          { expression: "request.operation == 'UPDATE'" },
          { expression: "oldObject.data.mood == object.data.mood", message: "the mood must not change" },
        ],
      });
      const ref = { namespace: await world.namespace(), name: "a" };
      await world.kube.create(configMaps, configMap(ref.namespace, "a", { mood: "good" }));
      const change = (body: object) => world.kube.patch(configMaps, ref, { type: "merge", body }, { dryRun: true });
      await settles(async () => {
        await refused(change({ data: { mood: "bad" } }), { status: 422, code: "Invalid", message: /must not change/ });
      });
      await change({ data: { other: "x" } });
      const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { mood: "applied" } };
      const options = { fieldManager: "me" };
      const call = world.kube.patch(configMaps, ref, { type: "apply", body: applied, force: true }, options);
      await refused(call, { status: 422, code: "Invalid", message: /must not change/ });
    }),
    behaviour("a delete is judged by what was; there is no object", async (world) => {
      await install(world, {
        matchConstraints: forConfigMaps(["DELETE"]),
        validations: [{ expression: "object == null && oldObject.data.mood == 'bad'", message: "good ones stay" }],
      });
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "stays", { mood: "good" }));
      await world.kube.create(configMaps, configMap(namespace, "goes", { mood: "bad" }));
      const remove = (name: string) => world.kube.delete(configMaps, { namespace, name }, { dryRun: true });
      await settles(async () => {
        await refused(remove("stays"), { status: 422, code: "Invalid", message: /good ones stay/ });
      });
      await remove("goes");
    }),
    behaviour("labels decide whether an object is meant, before or after", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "free", {}));
      await world.kube.create(configMaps, configMap(namespace, "meant", {}, { judged: "yes" }));
      await install(world, {
        matchConstraints: { ...forConfigMaps(), objectSelector: { matchLabels: { judged: "yes" } } },
        validations: [{ expression: "false", message: "judged" }],
      });
      const label = (name: string, judged: string) => {
        const patch = { type: "merge", body: { metadata: { labels: { judged } } } } as const;
        return world.kube.patch(configMaps, { namespace, name }, patch, { dryRun: true });
      };
      const denied = { status: 422, code: "Invalid", message: /denied request: judged/ };
      await settles(async () => void (await refused(label("free", "yes"), denied)));
      await refused(label("meant", "no"), denied);
      await label("free", "no");
    }),
    behaviour("a policy without a binding does nothing, and one that is gone no longer does", async (world) => {
      const name = await install(world, { validations: [isGood] });
      await judged(world, { mood: "bad" }, 422);
      await world.kube.delete(policyBindings, { name });
      await judged(world, { mood: "bad" }, 201);
    }),
  ],
};

/** What people see of it. */
export const kubectlAdmissionPolicies: BehaviourGroup = {
  name: "admission policies in kubectl",
  needs: "kubectl",
  behaviours: [
    behaviour("a warning is shown, and the object is made", async (world) => {
      const name = await install(world, { validations: [isGood] }, ["Warn"]);
      const manifest = configMap(await world.namespace(), "a", { mood: "bad" });
      await settles(async () => {
        const { code, stderr } = await world.kubectl(["apply", "--dry-run=server", ...fromInput], input(manifest));
        assert.equal(code, 0, stderr);
        assert.equal(
          stderr.trim(),
          `Warning: Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': the mood is bad`,
        );
      });
    }),
    behaviour("policies and bindings are listed", async (world) => {
      const name = await install(world, { validations: [isGood] });
      const listed = await succeed(world, ["get", "validatingadmissionpolicies", name]);
      assert.match(listed, /^NAME +VALIDATIONS +PARAMKIND +AGE\n\S+ +1 +<unset> +\d+s\n$/);
      const bound = await succeed(world, ["get", "validatingadmissionpolicybindings", name]);
      assert.match(bound, new RegExp(`^NAME +POLICYNAME +PARAMREF +AGE\\n${name} +${name} +<unset> +\\d+s\\n$`));
    }),
  ],
};
