import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../../base/manual-clock.ts";
import { Forbidden } from "../../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../../kube/objects.ts";
import type { Draft, Kube, WriteOptions } from "../../../kube/port.ts";
import type { RightsFacts } from "../judge/rights.ts";
import { rightKey } from "../needed-rights.ts";
import { gatherRights, type RightsQuestion } from "./rights.ts";

interface Asked {
  readonly kind: string;
  readonly as: string | undefined;
  readonly spec: { readonly user?: string; readonly groups?: readonly string[]; readonly resourceAttributes: object };
}

/** An API server that answers reviews as it is told to. */
class Reviewer implements Pick<Kube, "create"> {
  readonly asked: Asked[] = [];
  underWay = 0;
  most = 0;
  readonly #answer: (asked: Asked) => boolean;

  constructor(answer: (asked: Asked) => boolean) {
    this.#answer = answer;
  }

  async create<T extends KubeObject>(type: ResourceType, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const asked: Asked = { kind: type.kind, as: options.as, spec: object.spec as Asked["spec"] };
    this.asked.push(asked);
    this.most = Math.max(this.most, ++this.underWay);
    await settle();
    this.underWay--;
    const review: KubeObject = {
      apiVersion: "authorization.k8s.io/v1",
      kind: type.kind,
      metadata: { name: "" },
      status: { allowed: this.#answer(asked) },
    };
    return review as T;
  }
}

const question: RightsQuestion = {
  controllers: ["btp", "restart"],
  namespace: "home",
  scopedNamespaces: [],
  lease: "keyturn",
  user: "admin",
};
const account = { namespace: "home", name: "keyturn" };
const USER = "system:serviceaccount:home:keyturn";

const rightsIn = ({ answers }: RightsFacts) => (answers.isSeen ? answers.value : assert.fail(answers.why));

test("every right is asked for once, whoever needs it, and not all at the same time", async () => {
  const reviewer = new Reviewer(() => true);
  const facts = await gatherRights(reviewer, question);
  const rights = rightsIn(facts);
  assert.equal(facts.who, "admin");
  assert.equal(reviewer.asked.length, new Set(rights.map(rightKey)).size);
  assert.ok(reviewer.asked.length < rights.length, "two controllers need the same");
  assert.ok(rights.every(({ isAllowed }) => isAllowed));
  assert.ok(reviewer.most > 1 && reviewer.most <= 16, `${reviewer.most} at a time`);
  assert.ok(reviewer.asked.every(({ kind, as }) => kind === "SelfSubjectAccessReview" && as === undefined));
});

test("what is denied is denied to everybody who needs it, and to nobody else", async () => {
  const reviewer = new Reviewer(({ spec }) => !JSON.stringify(spec).includes('"resource":"secrets"'));
  for (const { resource, isAllowed } of rightsIn(await gatherRights(reviewer, question))) {
    assert.equal(isAllowed, resource !== "secrets");
  }
});

test("of a ServiceAccount is asked as that ServiceAccount", async () => {
  const reviewer = new Reviewer(() => true);
  const facts = await gatherRights(reviewer, { ...question, account });
  assert.equal(facts.who, "the ServiceAccount home/keyturn");
  assert.ok(reviewer.asked.every(({ kind, as }) => kind === "SelfSubjectAccessReview" && as === USER));
});

test("who may not act as it asks about it", async () => {
  const reviewer = new Reviewer(({ as }) => {
    if (as !== undefined) throw new Forbidden("may not impersonate");
    return true;
  });
  const rights = rightsIn(await gatherRights(reviewer, { ...question, account }));
  assert.ok(rights.every(({ isAllowed }) => isAllowed));
  const [refused, ...others] = reviewer.asked;
  assert.equal(refused?.as, USER, "it was tried once");
  for (const { kind, spec } of others) {
    assert.equal(kind, "SubjectAccessReview");
    assert.equal(spec.user, USER);
    assert.ok(spec.groups?.includes("system:serviceaccounts:home"));
  }
});

test("who may do neither has seen nothing", async () => {
  const reviewer = new Reviewer(() => {
    throw new Forbidden("may not ask");
  });
  assert.deepEqual((await gatherRights(reviewer, { ...question, account })).answers, {
    isSeen: false,
    why: "may not ask",
  });
});
