import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../base/properties.fixture.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";
import { ensureOwnSecret, secretNameOf } from "./child-secret.ts";
import { renderTemplate } from "./render-template.ts";

const address = { namespace: "shop", name: "web-abcdefgh" };

const certificate = {
  apiVersion: "cert-manager.io/v1",
  kind: "Certificate",
  metadata: { labels: { app: "web", child: "$(name)" }, annotations: { note: "for $(name) and $(name)" } },
  spec: {
    secretName: "$(name)-tls",
    dnsNames: ["web.example.org"],
    privateKey: { rotationPolicy: "Always", size: 256 },
  },
};

const refusalOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof SpecProblem, String(error));
    return error.message;
  }
  return "allowed";
};

test("the name of the child is put into texts, wherever they are", () => {
  assert.deepEqual(renderTemplate(certificate, address), {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: {
      ...address,
      labels: { app: "web", child: "web-abcdefgh" },
      annotations: { note: "for web-abcdefgh and web-abcdefgh" },
    },
    spec: {
      secretName: "web-abcdefgh-tls",
      dnsNames: ["web.example.org"],
      privateKey: { rotationPolicy: "Always", size: 256 },
    },
  });
});

test("neither names of fields nor what a name brings along are substituted", () => {
  const rendered = renderTemplate(
    { ...certificate, "$(name)": { "$(name)": "$(name)" } },
    { ...address, name: "$(name)$&" },
  );
  assert.deepEqual(rendered["$(name)"], { "$(name)": "$(name)$&" });
});

test("kind and version are what they are, whatever stands in them", () => {
  const { apiVersion, kind } = renderTemplate({ ...certificate, kind: "$(name)", apiVersion: "$(name)/v1" }, address);
  assert.deepEqual([apiVersion, kind], ["$(name)/v1", "$(name)"]);
});

test("what no template may hold", () => {
  const container = { name: "c", image: "i" };
  const deep = JSON.parse(`${'{"a":'.repeat(70)}1${"}".repeat(70)}`) as object;
  const table: readonly (readonly [object, RegExp])[] = [
    [{ metadata: { name: "x" } }, /spec\.template\.metadata\.name: may not be said/],
    [{ metadata: { namespace: "kube-system" } }, /metadata\.namespace: may not be said/],
    [{ metadata: { generateName: "x" } }, /metadata\.generateName/],
    [{ metadata: { ownerReferences: [] } }, /metadata\.ownerReferences/],
    [{ metadata: { finalizers: [] } }, /metadata\.finalizers/],
    [{ metadata: { uid: "x" } }, /metadata\.uid/],
    [{ metadata: { labels: { "keyturn.dev/sequence": "9" } } }, /labels\.keyturn\.dev\/sequence: is Keyturn's own/],
    [{ metadata: { annotations: { "x.keyturn.dev/y": "z" } } }, /annotations\.x\.keyturn\.dev\/y: is Keyturn's own/],
    [{ metadata: { labels: { app: { $ne: 1 } } } }, /labels\.app: must be a text/],
    [{ status: { conditions: [] } }, /spec\.template\.status/],
    [
      { spec: { template: { spec: { containers: [container] } } } },
      /spec\.template\.spec\.template\.spec\.containers: describes pods/,
    ],
    [{ spec: { jobs: [{ initContainers: [] }] } }, /spec\.jobs\[0\]\.initContainers: describes pods/],
    [{ spec: { podTemplate: {} } }, /spec\.podTemplate: describes pods/],
    [{ spec: deep }, /nested more than 64 deep/],
    [{ spec: { text: "x".repeat(300_000) } }, /longer than 256 KiB/],
  ];
  for (const [fields, expected] of table) {
    assert.match(
      refusalOf(() => renderTemplate({ ...certificate, metadata: {}, ...fields }, address)),
      expected,
    );
  }
  assert.equal(
    refusalOf(() => renderTemplate({ ...certificate, spec: { containers: "few" } }, address)),
    "allowed",
  );
});

/** Any JSON, with the placeholder, and with names that would decide something if they were in another place. */
const word = fc.constantFrom("$(name)", "x$(name)y", "$$(name)", "$(name", "name", "kube-system", "__proto__", "$&");
const field = fc.oneof(
  word,
  fc.constantFrom("metadata", "namespace", "ownerReferences", "apiVersion", "kind", "spec", "finalizers", "labels"),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    word,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("tree"), { maxLength: 4 }),
  object: fc.dictionary(field, tie("tree"), { maxKeys: 4 }),
}));

const keysIn = (value: unknown): readonly string[] =>
  typeof value !== "object" || value === null
    ? []
    : [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(keysIn)];

test("no template renders another namespace, name, owner or field", () => {
  fc.assert(
    fc.property(fc.dictionary(field, tree, { maxKeys: 6 }), tree, (fields, spec) => {
      const template = { ...fields, apiVersion: "x.dev/v1", kind: "X", spec };
      let rendered: ReturnType<typeof renderTemplate>;
      try {
        rendered = renderTemplate(template, address);
      } catch (error) {
        assert.ok(error instanceof SpecProblem);
        return;
      }
      const { labels: _, annotations: __, ...metadata } = rendered.metadata;
      assert.deepEqual(metadata, address);
      assert.deepEqual([rendered.apiVersion, rendered.kind], ["x.dev/v1", "X"]);
      const { metadata: ___, ...rest } = template as Readonly<Record<string, unknown>>;
      const { metadata: ____, ...made } = rendered;
      assert.deepEqual(keysIn(made).toSorted(), keysIn(rest).toSorted());
      assert.ok(
        !JSON.stringify(Object.values(made))
          .replaceAll(/"[^"]*":/g, "")
          .includes("$(name)"),
      );
    }),
    { numRuns: 500 },
  );
});

test("a Secret is a child's own, and the child knows of it", () => {
  const table: readonly (readonly [template: string, stable: string, expected: RegExp])[] = [
    ["$(name)-tls", "web-tls", /^allowed$/],
    ["$(name)", "web-tls", /^allowed$/],
    ["$(name)-other", "web-tls", /is in no text of spec\.template/],
    ["web", "web-tls", /must contain \$\(name\)/],
    ["$(name)_x", "web-tls", /cannot be the name of a Secret/],
    ["$(name)-tls", "web-abcdefgh-tls", /is the Secret of spec\.writeConnectionSecretToRef/],
  ];
  for (const [template, stable, expected] of table) {
    const check = (): void => {
      const child = renderTemplate(certificate, address);
      ensureOwnSecret(child, secretNameOf(template, address.name), stable);
    };
    assert.match(refusalOf(check), expected, template);
  }
});

test("the kind and the labels of a child are no place to name its Secret", () => {
  const child = renderTemplate({ ...certificate, spec: {}, metadata: { labels: { s: "$(name)-tls" } } }, address);
  assert.match(
    refusalOf(() => ensureOwnSecret(child, "web-abcdefgh-tls", "web-tls")),
    /in no text/,
  );
});

test("different children never have the same Secret", () => {
  const part = fc.stringMatching(/^[a-z0-9-]{0,4}$/);
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,8}[a-z0-9]$/);
  fc.assert(
    fc.property(part, part, name, name, (before, after, one, other) => {
      const template = `${before}$(name)${after}`;
      assert.equal(secretNameOf(template, one) === secretNameOf(template, other), one === other);
    }),
  );
});
