import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { secretProtection } from "../../src/install/secret-protection.ts";
import { Invalid, KubeError } from "../../src/kube/errors.ts";
import { impersonating, serviceAccountUser } from "../../src/kube/impersonating.ts";
import type { Kube } from "../../src/kube/port.ts";
import { namespaces, secrets } from "../conformance/kinds.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { pickTarget } from "../support/pick-target.ts";
import type { RunningTarget } from "../support/target.ts";
import { typeOf } from "./type-of.ts";

/** The policy of `keyturn manifests --protect-secrets`, against those who would change what is published. */
const target = await pickTarget();
const NAMESPACE = "keyturn-protect";
const OWNER = "keyturn.dev/owner-uid";
const DERIVED = "keyturn.dev/derived";
const ACCOUNT = { namespace: NAMESPACE, name: "keyturn" };
const OPERATOR = serviceAccountUser(ACCOUNT);
/** May be anything on its own Secrets where a RotatingResource publishes by it. */
const NEIGHBOUR = serviceAccountUser({ namespace: NAMESPACE, name: "publisher" });

const text = (value: string): string => Buffer.from(value).toString("base64");
/** Of a group that is served nowhere: the garbage collector leaves alone what it cannot look up. */
const rotatingResource = { apiVersion: "example.org/v1", kind: "RotatingResource", name: "r", uid: randomUUID() };
const other = { ...rotatingResource, kind: "Other" };

interface Attempt {
  readonly reason: string;
  /** What the Secret is to begin with, beside a label and data. */
  readonly given?: object;
  readonly body: object;
  readonly by?: string;
  /** Taken where there is none. */
  readonly refused?: RegExp;
}

const MARKS = /knows it by its labels keyturn\.dev\/owner-uid and keyturn\.dev\/derived/;

const ATTEMPTS: readonly Attempt[] = [
  { reason: "its data is changed", body: { data: { key: text("mine") } }, refused: /only Keyturn changes its data/ },
  { reason: "it is made immutable", body: { immutable: true }, refused: /cannot be made immutable/ },
  { reason: "its mark is taken away", body: { metadata: { labels: { [OWNER]: null } } }, refused: MARKS },
  { reason: "its mark is changed", body: { metadata: { labels: { [OWNER]: "mine" } } }, refused: MARKS },
  { reason: "all labels are taken away", body: { metadata: { labels: null } }, refused: MARKS },
  {
    reason: "the mark of what is made from others is taken away",
    given: { labels: { [DERIVED]: "true" } },
    body: { metadata: { labels: { [DERIVED]: null } } },
    refused: MARKS,
  },
  {
    reason: "the mark and the data at once",
    body: { metadata: { labels: { [OWNER]: null } }, data: { key: text("mine") } },
    refused: /only Keyturn changes its data|its labels/,
  },
  {
    reason: "it is given to a RotatingResource, whose accounts may write",
    body: { metadata: { ownerReferences: [rotatingResource] } },
    refused: /belongs to no other RotatingResource/,
  },
  {
    reason: "an owner is turned into a RotatingResource",
    given: { ownerReferences: [other] },
    body: { metadata: { ownerReferences: [rotatingResource] } },
    refused: /belongs to no other RotatingResource/,
  },
  {
    reason: "other labels and annotations are everybody's",
    body: { metadata: { labels: { team: "shop" }, annotations: { note: "x", "keyturn.dev/published-at": null } } },
  },
  {
    reason: "what was orphaned loses its owners, as the garbage collector has it",
    given: { ownerReferences: [rotatingResource] },
    body: { metadata: { ownerReferences: [] } },
  },
];

/** Policies of the embedded server take everybody for its one user. */
const OTHERS: readonly Attempt[] = [
  {
    reason: "the operator writes all of it",
    by: OPERATOR,
    body: { metadata: { labels: { [OWNER]: null } }, data: { key: text("next") } },
  },
  {
    reason: "an account of its namespace writes what a RotatingResource publishes",
    by: NEIGHBOUR,
    given: { ownerReferences: [rotatingResource] },
    body: { metadata: { labels: { [OWNER]: "successor" } }, data: { key: text("next") } },
  },
  {
    reason: "an account of its namespace writes nothing else",
    by: NEIGHBOUR,
    body: { data: { key: text("mine") } },
    refused: /only Keyturn changes its data/,
  },
];

describe(`what is published is protected on the ${target.name} server`, { concurrency: 1, timeout: 120_000 }, () => {
  let server: RunningTarget;
  let kube: Kube;
  const ends = new AsyncDisposableStack();
  const ref = { namespace: NAMESPACE, name: "" };

  before(async () => {
    server = await target.start();
    ends.defer(() => server.stop());
    kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    const metadata = { name: NAMESPACE };
    await kube.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
    ends.defer(async () => void (await kube.delete(namespaces, metadata)));
    for (const object of secretProtection(ACCOUNT)) {
      const type = typeOf(object);
      await kube.create(type, object);
      ends.defer(async () => void (await kube.delete(type, { name: object.metadata.name })));
    }
    if (target.name === "real") await allow();
    await isInForce();
  });
  after(() => ends.disposeAsync());
  beforeEach(() => {
    ref.name = `published-${randomUUID()}`;
  });

  /** Rights are not what keeps anybody away here. */
  async function allow(): Promise<void> {
    const group = "rbac.authorization.k8s.io";
    const object = {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata: { namespace: NAMESPACE, name: "accounts" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: group, kind: "Group", name: `system:serviceaccounts:${NAMESPACE}` }],
    };
    await kube.create(typeOf(object), object);
  }

  const publish = (given: object = {}): Promise<unknown> => {
    const metadata = {
      ...ref,
      labels: { [OWNER]: "owner" },
      annotations: { "keyturn.dev/published-at": "x" },
      ...given,
    };
    return kube.create(secrets, { apiVersion: "v1", kind: "Secret", metadata, data: { key: text("published") } });
  };

  /** A server takes a moment to know a policy. */
  async function isInForce(): Promise<void> {
    ref.name = "first";
    await publish();
    await eventually("the policy to be in force", async () => {
      const body = { data: { key: text(randomUUID()) } };
      return kube.patch(secrets, ref, { type: "merge", body }).then(
        () => undefined,
        (error: unknown) => error instanceof KubeError || undefined,
      );
    });
  }

  for (const { reason, given, body, by, refused } of [...ATTEMPTS, ...(target.name === "real" ? OTHERS : [])]) {
    test(`${refused ? "refused" : "taken"}: ${reason}`, async () => {
      await publish(given);
      const as = by === undefined ? kube : impersonating(kube, by);
      const writing = as.patch(secrets, ref, { type: "merge", body });
      if (!refused) return void (await writing);
      await assert.rejects(writing, (error: unknown) => {
        assert.ok(error instanceof Invalid, String(error));
        assert.match(error.message, refused);
        return true;
      });
    });
  }

  test("anybody may delete it, to have it made anew", async () => {
    await publish();
    await kube.delete(secrets, ref);
  });
});
