import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";
import { type AuditedRequest, readAuditLine } from "./audited-request.ts";
import { type GrantedRole, judgeRights } from "./judge-rights.ts";

type Fields = Readonly<Record<string, unknown>>;

const ACCOUNT = "system:serviceaccount:keyturn-system:keyturn";

/** A line as a server writes it. */
const line = (fields: Fields): string =>
  JSON.stringify({
    kind: "Event",
    level: "Metadata",
    stage: "ResponseComplete",
    user: { username: ACCOUNT },
    userAgent: "keyturn/0.2.0 (btp)",
    responseStatus: { code: 200 },
    annotations: { "authorization.k8s.io/decision": "allow" },
    ...fields,
  });

const request = (verb: string, objectRef: Fields, fields: Fields = {}): AuditedRequest =>
  readAuditLine(line({ verb, objectRef: { apiVersion: "v1", ...objectRef }, ...fields })) ?? assert.fail("not read");

const SECRET = { resource: "secrets", namespace: "shop", name: "db" };
const forbidden = (message: string) => ({
  responseStatus: { code: 403, message },
  annotations: { "authorization.k8s.io/decision": "forbid" },
});

const secrets = (...verbs: readonly string[]) => ({ apiGroups: [""], resources: ["secrets"], verbs });
const btp: GrantedRole = { name: "btp", rules: [secrets("get", "create")] };
const restart: GrantedRole = { name: "restart", rules: [secrets("get")] };
const own: GrantedRole = {
  name: "own namespace",
  isOwn: true,
  rules: [secrets("create"), { ...secrets("get"), resourceNames: ["keyturn-fingerprint-key", "keyturn-audit-key"] }],
};

describe("a line of an audit log", () => {
  const read: readonly (readonly [reason: string, fields: Fields, expected: Partial<AuditedRequest>])[] = [
    ["who asks, and where that is at home", {}, { home: "keyturn-system", version: "0.2.0", callers: ["btp"] }],
    ["several share a watch", { userAgent: "keyturn/test (btp,restart,btp)" }, { callers: ["btp", "restart"] }],
    ["the operator as a whole", { userAgent: "keyturn/0.2.0" }, { callers: [] }],
    [
      "an account of a test",
      { user: { username: "system:serviceaccount:default:keyturn-of-default-all" } },
      { home: "default" },
    ],
    ["what it is about", {}, { verb: "get", group: "", resource: "secrets", namespace: "shop", name: "db" }],
    [
      "a subresource",
      { objectRef: { apiGroup: "a.b", resource: "c", subresource: "status" } },
      { group: "a.b", resource: "c/status" },
    ],
    ["a patch that makes something", { verb: "patch", responseStatus: { code: 201 } }, { isCreated: true }],
    ["one that does not", { verb: "patch" }, { isCreated: false }],
    ["a refusal", forbidden('secrets "db" is forbidden: User "x" cannot get'), { refusal: "cannot get" }],
    [
      "a refusal by a check that comes later",
      { responseStatus: { code: 403, message: 'secrets "db" is forbidden: cannot set blockOwnerDeletion if' } },
      { refusal: "cannot set blockOwnerDeletion if" },
    ],
    [
      "a server that has yet to read its roles",
      forbidden(
        'x is forbidden: User "y" cannot get: RBAC: [clusterrole.rbac.authorization.k8s.io "keyturn" not found]',
      ),
      { refusal: undefined },
    ],
    [
      "a namespace that goes is nobody's right",
      {
        responseStatus: { code: 403, message: 'secrets "db" is forbidden: unable to create new content in namespace' },
      },
      { refusal: undefined },
    ],
    [
      "whose deletion is held up",
      {
        requestObject: {
          metadata: {
            ownerReferences: [
              { apiVersion: apiVersionOf(serviceBinding), kind: serviceBinding.kind, blockOwnerDeletion: true },
              { apiVersion: "v1", kind: "ConfigMap" },
              { apiVersion: "korifi.cloudfoundry.org/v1alpha1", kind: "CFApp", blockOwnerDeletion: true },
            ],
          },
        },
      },
      { blocks: [`${serviceBinding.group}/${serviceBinding.plural}`, "korifi.cloudfoundry.org/CFApp"] },
    ],
  ];
  for (const [reason, fields, expected] of read) {
    test(reason, () => assert.partialDeepStrictEqual(request("get", SECRET, fields), expected));
  }

  const passedOver: readonly (readonly [reason: string, fields: Fields])[] = [
    ["another account", { user: { username: "system:serviceaccount:shop:rotator" } }],
    [
      "the account that takes an installation away",
      { user: { username: "system:serviceaccount:a:keyturn-uninstall" } },
    ],
    [
      "the operator with the rights of somebody else",
      { impersonatedUser: { username: "system:serviceaccount:shop:rotator" } },
    ],
    [
      "the operator where it may not act as somebody else",
      forbidden('User "x" cannot impersonate resource "serviceaccounts"'),
    ],
    [
      "the operator where it may not do this one thing as somebody else",
      forbidden('secrets is forbidden: User "x" cannot impersonate-on:serviceaccount:get resource "secrets"'),
    ],
    ["another program of the same account", { userAgent: "kubectl/v1.36" }],
    ["what is no object", { objectRef: undefined }],
    [
      "what everybody may ask",
      { objectRef: { apiGroup: "authorization.k8s.io", resource: "selfsubjectaccessreviews" } },
    ],
  ];
  test("what only some may ask, of whom others are", () => {
    const objectRef = { apiGroup: "authorization.k8s.io", resource: "subjectaccessreviews" };
    assert.equal(request("create", objectRef).resource, "subjectaccessreviews");
  });
  for (const [reason, fields] of passedOver) {
    test(`passed over: ${reason}`, () =>
      assert.equal(readAuditLine(line({ verb: "get", objectRef: SECRET, ...fields })), undefined));
  }
});

describe("what was asked, held against what is granted", () => {
  const whole = [request("get", SECRET), request("create", SECRET)];

  test("nothing missing, nothing unused", () => {
    const { roles, missing, unused } = judgeRights(whole, [btp]);
    assert.deepEqual([roles, missing, unused], [[{ name: "btp", granted: 2, needed: 2 }], [], []]);
  });

  test("a right that no request needed is unused", () => {
    const { unused, roles } = judgeRights([request("get", SECRET)], [btp]);
    assert.deepEqual(unused, ["btp: create secrets"]);
    assert.deepEqual(roles, [{ name: "btp", granted: 2, needed: 1 }]);
  });

  test("a right that somebody else needed is unused all the same", () => {
    assert.deepEqual(judgeRights(whole, [btp, restart]).unused, ["restart: get secrets"]);
    const shared = request("get", SECRET, { userAgent: "keyturn/0.2.0 (btp,restart)" });
    assert.deepEqual(judgeRights([...whole, shared], [btp, restart]).unused, []);
  });

  test("a request that was refused is missing", () => {
    const message = 'secrets "db" is forbidden: User "x" cannot delete resource "secrets"';
    const { missing } = judgeRights([...whole, request("delete", SECRET, forbidden(message))], [btp]);
    assert.deepEqual(missing, ['btp: delete secrets in a namespace: cannot delete resource "secrets"']);
  });

  test("unless a story has said that it will be", () => {
    const refused = request("delete", SECRET, forbidden("secrets is forbidden: User"));
    const judge = (declared: object) => judgeRights([refused], [btp], [{ ...declared, reason: "r" }]).missing.length;
    assert.equal(judge({ namespace: "shop" }), 0);
    assert.equal(judge({ verb: "delete", resource: "secrets" }), 0);
    assert.equal(judge({ namespace: "elsewhere" }), 1);
    assert.equal(judge({ verb: "get" }), 1);
  });

  test("a request that only the role of another controller allowed is missing", () => {
    const { missing } = judgeRights(
      [request("create", SECRET, { userAgent: "keyturn/0.2.0 (restart)" })],
      [btp, restart],
    );
    assert.deepEqual(missing, ["restart: create secrets in a namespace: no role of its own allows it"]);
    const whole = judgeRights([request("get", SECRET, { userAgent: "keyturn/0.2.0" })], [btp]).missing;
    assert.deepEqual(whole, ["the operator: get secrets in a namespace: no role of its own allows it"]);
  });

  test("who lends what it sees to others, and who shares, is needed for that by nobody", () => {
    const asked = [request("get", SECRET, { userAgent: "keyturn/0.2.0 (restart)" })];
    const judge = (other: object) =>
      judgeRights(asked, [
        { ...restart, rules: [], family: "a" },
        { ...btp, ...other },
      ]);
    assert.deepEqual(judge({}).missing.length, 1);
    for (const other of [{ lends: true }, { family: "a" }]) {
      assert.deepEqual(judge(other).missing, []);
      assert.deepEqual(judge(other).unused, ["btp: get secrets", "btp: create secrets"]);
    }
    assert.equal(judge({ family: "b" }).missing.length, 1);
    const write = [request("create", SECRET, { userAgent: "keyturn/0.2.0 (restart)" })];
    assert.equal(judgeRights(write, [restart, { ...btp, lends: true }]).missing.length, 1, "sights, and nothing else");
  });

  test("what one of a family needed, all of it did", () => {
    const write = [request("create", SECRET, { userAgent: "keyturn/0.2.0 (restart)" })];
    const family = [btp, { ...restart, rules: btp.rules }].map((role) => ({ ...role, family: "a" }));
    assert.deepEqual(judgeRights(write, family).unused, ["btp: get secrets", "restart: get secrets"]);
  });

  test("a refusal by a server that had yet to read its roles, of what the same account was granted", () => {
    const user = (name: string) => ({ user: { username: `system:serviceaccount:default:${name}` } });
    const refused = (name: string) =>
      request("get", SECRET, { ...forbidden('secrets "db" is forbidden: User "x" cannot get'), ...user(name) });
    const all = "keyturn-of-default-all";
    const judge = (...requests: readonly AuditedRequest[]) => judgeRights(requests, [btp]).missing.length;
    assert.equal(judge(refused(all), request("get", SECRET, user(all))), 0);
    assert.equal(judge(refused(all), request("create", SECRET, user(all))), 1, "something else was granted");
    assert.equal(judge(refused(all), request("get", SECRET, user("keyturn-of-default-btp"))), 1, "to somebody else");
    assert.equal(judge(refused("keyturn"), request("get", SECRET, user("keyturn"))), 1, "by an upgrade, perhaps");
  });

  test("what is granted at home is granted there alone, and not needed elsewhere for that", () => {
    const home = { ...SECRET, namespace: "keyturn-system" };
    const { unused, missing } = judgeRights([request("create", home), request("get", SECRET)], [btp, own]);
    assert.deepEqual(missing, []);
    assert.deepEqual(unused, [
      "btp: create secrets",
      'own namespace: get secrets "keyturn-fingerprint-key"',
      'own namespace: get secrets "keyturn-audit-key"',
    ]);
  });

  test("a right that is asked for at home alone need not be granted everywhere", () => {
    const home = { ...SECRET, namespace: "keyturn-system" };
    const asked = [request("get", home), request("create", home)];
    assert.deepEqual(judgeRights(asked, [btp]).unused, ["btp: get secrets", "btp: create secrets"]);
    assert.deepEqual(judgeRights(asked, [btp]).missing, []);
    const everywhere = request("get", { resource: "secrets" });
    assert.deepEqual(judgeRights([...asked, everywhere], [btp]).unused, ["btp: create secrets"]);
  });

  test("what a controller is granted at home is needed by it, and there", () => {
    const home = { ...SECRET, namespace: "keyturn-system" };
    const atHome: GrantedRole = { name: "btp", isAtHome: true, rules: [secrets("get", "patch")] };
    const unused = (...asked: readonly AuditedRequest[]) => judgeRights(asked, [atHome]).unused;
    const both = ["btp at home: get secrets", "btp at home: patch secrets"];
    assert.deepEqual(unused(request("get", home), request("patch", home)), []);
    assert.deepEqual(unused(request("get", home)), both.slice(1));
    assert.deepEqual(unused(request("get", SECRET)), both, "in another namespace");
    assert.deepEqual(unused(request("get", home, { userAgent: "keyturn/0.2.0 (restart)" })), both, "by somebody else");
  });

  test("names count where a rule has some, each of them", () => {
    const named = request("get", { resource: "secrets", namespace: "keyturn-system", name: "keyturn-audit-key" });
    assert.deepEqual(judgeRights([named], [own]).unused, [
      "own namespace: create secrets",
      'own namespace: get secrets "keyturn-fingerprint-key"',
    ]);
    const other = request("get", { resource: "secrets", namespace: "keyturn-system", name: "other" });
    assert.deepEqual(judgeRights([other], [own]).missing, [
      "btp: get secrets in its own namespace: no role of its own allows it",
    ]);
  });

  test("who makes something by a patch, or something that holds its owner, needs a right for that too", () => {
    const role: GrantedRole = {
      name: "btp",
      rules: [
        secrets("patch", "create"),
        { apiGroups: [serviceBinding.group], resources: [`${serviceBinding.plural}/finalizers`], verbs: ["update"] },
      ],
    };
    const owner = { apiVersion: apiVersionOf(serviceBinding), kind: serviceBinding.kind, blockOwnerDeletion: true };
    const requestObject = { metadata: { ownerReferences: [owner] } };
    const asked = request("patch", SECRET, { requestObject, responseStatus: { code: 201 } });
    const { missing, unused } = judgeRights([asked], [role]);
    assert.deepEqual([missing, unused], [[], []]);
    assert.deepEqual(judgeRights([asked], [{ ...role, rules: [secrets("patch")] }]).missing, [
      "btp: create secrets in a namespace: no role of its own allows it",
      "btp: update servicebindings.account.btp.sap.crossplane.io/finalizers in a namespace: no role of its own allows it",
    ]);
    const again = request("patch", SECRET, { requestObject });
    assert.deepEqual(
      judgeRights([again], [{ ...role, rules: [secrets("patch")] }]).missing,
      [],
      "it may have been so before",
    );
  });
});
