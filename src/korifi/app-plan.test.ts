import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { type AppService, planApp } from "./app-plan.ts";
import { bindingOf, instanceOf, secretOf, textsIn, told, uidOf } from "./korifi.fixture.ts";
import type { SecretView } from "./model.ts";
import { bindingStatus, type SecretWrite } from "./plan.ts";

const NAME = "shop-vcap-services";

const service = (name: string, text: string, more: Partial<AppService> = {}): AppService => ({
  binding: bindingOf({ status: bindingStatus({ mountName: name, envName: `creds-of-${name}` }) }, name),
  instance: instanceOf({ spec: { displayName: "orders", tags: ["sql"] } }),
  credentials: secretOf(`creds-of-${name}`, { credentials: text }),
  ...more,
});

/** The Secret as a plan has left it. */
function after(services: readonly AppService[], present?: SecretView): SecretView {
  const [write] = planApp({ appName: "shop", services, present }).writes as readonly SecretWrite[];
  assert.ok(write);
  return secretOf(NAME, textsIn(write.data), { derivedFrom: write.derivedFrom, servicesOf: "shop" });
}

type Vcap = Readonly<Record<string, readonly { readonly binding_guid: string; readonly credentials: unknown }[]>>;

const credentialsIn = (secret: SecretView): Readonly<Record<string, unknown>> => {
  const lists = Object.values(JSON.parse(textsIn(secret.data).VCAP_SERVICES ?? "") as Vcap);
  return Object.fromEntries(lists.flat().map((entry) => [entry.binding_guid, entry.credentials]));
};

const alice = service("b1", '{"user":"alice"}');
const bob = service("b2", '{"user":"bob"}');

test("all services of an application are in one Secret, which names what it was made from", () => {
  const plan = planApp({ appName: "shop", services: [bob, alice], present: undefined });
  assert.deepEqual(told(plan), [`create ${NAME} from creds-of-b1,creds-of-b2`]);
  assert.deepEqual(credentialsIn(after([bob, alice])), { b1: { user: "alice" }, b2: { user: "bob" } });
  assert.ok(!/alice|bob/.test(inspect(plan, { depth: null })));
});

test("several bindings to one instance are several services", () => {
  const twin = service("b3", '{"user":"alice"}', { credentials: alice.credentials });
  assert.deepEqual(Object.keys(credentialsIn(after([alice, twin]))), ["b1", "b3"]);
});

test("what is current is not written again", () => {
  assert.deepEqual(told(planApp({ appName: "shop", services: [alice, bob], present: after([bob, alice]) })), []);
});

test("changed credentials are in it at once, without anything else touching the application", () => {
  const changed = service("b1", '{"user":"carol"}');
  const present = after([alice, bob]);
  assert.deepEqual(told(planApp({ appName: "shop", services: [changed, bob], present })), [
    `update ${NAME} from creds-of-b1,creds-of-b2`,
  ]);
  assert.deepEqual(credentialsIn(after([changed, bob], present)), { b1: { user: "carol" }, b2: { user: "bob" } });
});

test("without bindings it says so", () => {
  assert.equal(textsIn(after([], after([alice])).data).VCAP_SERVICES, "{}");
});

test("a binding that is being deleted is out of it", () => {
  const leaving = { ...alice, binding: { ...alice.binding, isDeleting: true } };
  assert.deepEqual(credentialsIn(after([leaving, bob], after([alice, bob]))), { b2: { user: "bob" } });
});

const unreadable: readonly { readonly why: string; readonly service: AppService }[] = [
  { why: "credentials that are no JSON", service: service("b1", "no JSON") },
  { why: "credentials that are gone", service: service("b1", "{}", { credentials: undefined }) },
  { why: "an instance that is not there", service: service("b1", '{"user":"x"}', { instance: undefined }) },
];

for (const { why, service: broken } of unreadable) {
  test(`${why}: the service stays what it was, and does not keep the others back`, () => {
    const changed = service("b2", '{"user":"carol"}');
    const present = after([alice, bob]);
    assert.deepEqual(credentialsIn(after([broken, changed], present)), {
      b1: { user: "alice" },
      b2: { user: "carol" },
    });
    assert.deepEqual(told(planApp({ appName: "shop", services: [broken, bob], present })), [
      "BindingNotReady: the binding b1 has no credentials that can be read",
    ]);
  });
  test(`${why}: a service that was never in it waits`, () => {
    assert.deepEqual(credentialsIn(after([broken, bob])), { b2: { user: "bob" } });
  });
}

test("a service that stays what it was was made from what it was made from", () => {
  const keyed = (keyId: string, text: string) =>
    service("b1", text, {
      credentials: secretOf("creds-of-b1", { credentials: text }, { derivedFrom: `rotated@${keyId}` }),
    });
  const present = after([keyed("k1", '{"user":"alice"}'), bob]);
  assert.equal(present.derivedFrom, "creds-of-b1,creds-of-b2,rotated@k1");
  const gone = service("b1", "{}", { instance: undefined, credentials: undefined });
  assert.deepEqual(planApp({ appName: "shop", services: [gone, bob], present }).writes, []);
  const other = service("b2", '{"user":"carol"}', {
    credentials: secretOf("creds-of-b2", { credentials: '{"user":"carol"}' }, { derivedFrom: "rotated@k2" }),
  });
  assert.equal(after([gone, other], present).derivedFrom, "creds-of-b1,creds-of-b2,rotated");
});

test("somebody else's Secret stays, an application's own is taken over", () => {
  const theirs = secretOf(NAME, { mine: "x" });
  assert.deepEqual(told(planApp({ appName: "shop", services: [alice], present: theirs })), [
    `SecretTaken: the Secret ${NAME} is somebody else's: its name is needed`,
  ]);
  // A binding may be called so.
  const ofBinding = secretOf(NAME, { user: "x" }, { derivedFrom: "db", owner: NAME });
  assert.deepEqual(planApp({ appName: "shop", services: [alice], present: ofBinding }).writes, []);
  const ofApp = secretOf(NAME, { VCAP_SERVICES: "{}" }, { owner: "shop" });
  assert.deepEqual(told(planApp({ appName: "shop", appUid: uidOf("shop"), services: [alice], present: ofApp })), [
    `update ${NAME} from creds-of-b1`,
  ]);
});

test("what Korifi has written stays, however it is written, until it is to say something else", () => {
  const odd = service("b1", '{"user":"<alice>","pin":1}');
  const lists = JSON.parse(textsIn(after([odd, bob]).data).VCAP_SERVICES ?? "") as Vcap;
  const reversed = Object.entries(lists).map(([label, entries]) => [label, entries.toReversed()]);
  const escaped = JSON.stringify(Object.fromEntries(reversed)).replaceAll("<", "\\u003c");
  const present = secretOf(NAME, { VCAP_SERVICES: escaped }, { owner: "shop" });
  const plan = (...services: readonly AppService[]) =>
    told(planApp({ appName: "shop", appUid: uidOf("shop"), services, present }));
  assert.deepEqual(plan(odd, bob), []);
  assert.deepEqual(plan(odd, service("b2", '{"user":"carol"}')), [`update ${NAME} from creds-of-b1,creds-of-b2`]);
  assert.deepEqual(plan(odd), [`update ${NAME} from creds-of-b1`]);
  const text = '{"user":"bob"}';
  const credentials = secretOf("creds-of-b2", { credentials: text }, { derivedFrom: "rotated@k1" });
  const keyed = service("b2", text, { credentials });
  assert.deepEqual(plan(odd, keyed), [`update ${NAME} from creds-of-b1,creds-of-b2,rotated@k1`]);
});

test("one that has become immutable is not written, and said where it would have to be", () => {
  const present = { ...after([alice]), isImmutable: true };
  assert.deepEqual(told(planApp({ appName: "shop", services: [alice], present })), []);
  assert.deepEqual(told(planApp({ appName: "shop", services: [alice, bob], present })), [
    `SecretTaken: the Secret ${NAME} is immutable: delete it, and it is made anew`,
  ]);
});

test("what Korifi has written is compared to the last digit, however deep it is", () => {
  const deep = (pin: string): string => `{"pin":${"[".repeat(50_000)}${pin}${"]".repeat(50_000)}}`;
  const { VCAP_SERVICES = "" } = textsIn(after([service("b1", deep("9007199254740992"))]).data);
  const present = secretOf(NAME, { VCAP_SERVICES }, { owner: "shop" });
  const plan = (pin: string) =>
    told(planApp({ appName: "shop", appUid: uidOf("shop"), services: [service("b1", deep(pin))], present }));
  assert.deepEqual(plan("9007199254740992"), []);
  assert.deepEqual(plan("9007199254740993"), [`update ${NAME} from creds-of-b1`]);
});

test("more than a Secret holds is not written, and said", () => {
  const large = (name: string) => service(name, `{"a":"${"x".repeat(600_000)}"}`);
  const { writes, findings } = planApp({ appName: "shop", services: [large("b1"), large("b2")], present: undefined });
  assert.deepEqual(writes, []);
  assert.deepEqual(
    findings.map(({ reason }) => reason),
    ["CredentialsTooLarge"],
  );
});
