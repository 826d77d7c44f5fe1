import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../base/properties.fixture.ts";
import type { Json } from "../../json.ts";
import type { Schema, ValidationRule } from "../schema.ts";
import { compileRules } from "./compile-rule.ts";
import { escapeProperty } from "./escape.ts";
import { validateRules } from "./validate-rules.ts";

const STRING: Schema = { type: "string" };
const PROPERTIES: Readonly<Record<string, Schema>> = {
  a: { type: "string" },
  n: { type: "integer" },
  d: { type: "number" },
  yes: { type: "boolean" },
  nul: { type: "string", nullable: true },
  at: { type: "string", format: "date-time" },
  day: { type: "string", format: "date" },
  ttl: { type: "string", format: "duration" },
  raw: { type: "string", format: "byte" },
  ios: { "x-kubernetes-int-or-string": true },
  map: { type: "object", additionalProperties: { type: "integer" } },
  list: { type: "array", items: { type: "string" } },
  nums: { type: "array", items: { type: "integer" } },
  objects: {
    type: "array",
    items: { type: "object", properties: { name: { type: "string" }, n: { type: "integer" } } },
  },
  inner: {
    type: "object",
    properties: { x: { type: "string" }, deep: { type: "object", properties: { y: { type: "integer" } } } },
  },
  namespace: { type: "string" },
  "my-key": { type: "string" },
  "a.b/c": { type: "string" },
  __x: { type: "string" },
  constructor: STRING,
  free: { "x-kubernetes-preserve-unknown-fields": true },
};

const VALUE = {
  a: "héllo",
  n: 3,
  d: 1.5,
  yes: true,
  at: "2024-01-15T14:30:45Z",
  day: "2024-01-15",
  ttl: "1h30m",
  raw: "aGk=",
  ios: "25%",
  map: { x: 1, "y.z": 2 },
  list: ["b", "a"],
  nums: [1, 2, 3],
  objects: [{ name: "one", n: 1 }, { name: "two" }],
  inner: { x: "v" },
  namespace: "ns",
  "my-key": "dash",
  "a.b/c": "dots",
  __x: "under",
};

const schemaWith = (...rules: readonly ValidationRule[]): Schema => ({
  type: "object",
  properties: PROPERTIES,
  "x-kubernetes-validations": rules,
});

const lines = (value: Json, schema: Schema, old?: Json): readonly string[] =>
  validateRules(value, old, schema, false).map((error) => `${error.field}: ${error.message}`);

/** Rules that hold for VALUE. */
const TRUE_RULES: readonly string[] = [
  "self.n == 3 && self.n < 4 && self.n + 1 == 4 && self.n % 2 == 1",
  "self.d == 1.5 && self.n > self.d",
  "self.yes && !(self.n > 5)",
  "has(self.a) && !has(self.nul) && !has(self.inner.deep) && has(self.inner.x)",
  "!has(self.constructor)",
  "has(self.objects[0].n) && !has(self.objects[1].n) && has(self.map.x) && !has(self.map.q)",
  "self.objects.all(o, has(o.name)) && 'has(self.nope)' != '' && has (self.a)",
  "self.at < timestamp('2025-01-01T00:00:00Z') && self.at.getFullYear() == 2024",
  "self.day == timestamp('2024-01-15T00:00:00Z')",
  "self.ttl > duration('1h') && self.ttl == duration('90m')",
  "self.raw == b'hi'",
  "type(self.ios) == string && self.ios.endsWith('%')",
  "type(self.ios) == int ? self.ios > 3 : self.ios != ''",
  "self.map.x == 1 && self.map['y.z'] == 2 && 'x' in self.map && !('q' in self.map)",
  "self.map.all(k, self.map[k] > 0) && size(self.map) == 2",
  "self.list.exists(e, e == 'a') && self.list.size() == 2 && 'b' in self.list && self.list[0] == 'b'",
  "self.objects.all(o, o.name != '') && self.objects.filter(o, has(o.n)).map(o, o.name) == ['one']",
  "self.objects.exists_one(o, o.name == 'two')",
  "self.objects[0] == self.objects[0] && self.objects[0] != self.objects[1]",
  "self.__namespace__ == 'ns' && self.my__dash__key == 'dash' && self.a__dot__b__slash__c == 'dots'",
  "self.__underscores__x == 'under'",
  "self.a.size() == 5 && self.a.indexOf('l') == 2 && self.a.substring(1, 2) == 'é' && self.a.charAt(1) == 'é'",
  "self.a.upperAscii() == 'HéLLO' && self.a.matches('^h.*o$') && 'A'.lowerAscii() == 'a'",
  "'(?i)H' != '' && self.a.matches('(?i)^H') && self.a.find('l+') == 'll' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
  "'a,b,c'.split(',') == ['a', 'b', 'c'] && ['a', 'b'].join('-') == 'a-b' && ' x '.trim() == 'x'",
  "'aXbX'.replace('X', '-') == 'a-b-' && 'aXbX'.replace('X', '-', 1) == 'a-bX'",
  "'%s has %d of %.2f'.format([self.a, self.n, self.d]) == 'héllo has 3 of 1.50'",
  "!self.list.isSorted() && self.nums.isSorted() && self.nums.sum() == 6 && self.nums.min() == 1 && self.nums.max() == 3",
  "self.list.indexOf('a') == 1 && self.list.lastIndexOf('q') == -1",
  "sets.contains(self.list, ['a']) && sets.intersects(self.nums, [3, 9]) && sets.equivalent([1, 1], [1])",
  "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('2').add(quantity('1')).asInteger() == 3",
  "isQuantity('1.5Mi') && !isQuantity('x') && quantity('2').compareTo(quantity('2000m')) == 0",
  "isURL('https://a.b:80/p?q=1') && url('https://a.b:80/p?q=1').getHostname() == 'a.b' && url('https://a.b:80/p').getPort() == '80'",
  "url('https://a.b/p?q=1&q=2').getQuery()['q'] == ['1', '2']",
  "isIP('10.0.0.1') && ip('::1').family() == 6 && ip('127.0.0.1').isLoopback() && ip.isCanonical('::1')",
  "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsCIDR('0.0.0.0/0')",
  "string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && cidr('::/0').prefixLength() == 0",
  "self.?nul.orValue('none') == 'none' && self.?inner.?x.hasValue()",
  "string(self.n) == '3' && int('4') == 4 && double('1.5') == self.d && string(self.ttl) == '5400s'",
];

test("rules see values as the API server shows them", () => {
  for (const rule of TRUE_RULES) assert.deepEqual(lines(VALUE, schemaWith({ rule })), [], rule);
});

test("types are checked when the rule is made", () => {
  for (const rule of [
    "self.a == self.n",
    "self.n + self.d > 0.0",
    "self.nope == 1",
    "has(self.nope)",
    "self.objects.all(o, has(o.nope))",
    "self.inner['x'] == 'v'",
    "has(self.objects[0].nope)",
    "has(self.a.b)",
    "has(self)",
    "hAs(self.a)",
    "self.free == 1",
    "[1, 'a'].size() == 2",
    "self.a",
    "cel.bind(x, 1, x == 1)",
    "b'x'.hex() == ''",
    "self.a.matches('(')",
    "duration('x') == self.ttl",
    "now() > self.at",
  ]) {
    const error = compileRules(schemaWith({ rule }), false)?.rules[0]?.error;
    assert.ok(error, rule);
  }
});

test("a failed rule says what the CRD's author wants it to say", () => {
  const cases: readonly (readonly [ValidationRule, string])[] = [
    [{ rule: " false " }, "<nil>: Invalid value: failed rule: false"],
    [{ rule: "false", message: " no " }, "<nil>: Invalid value: no"],
    [{ rule: "false", message: "no", messageExpression: "'got ' + self.a" }, "<nil>: Invalid value: got héllo"],
    [{ rule: "false", message: "no", messageExpression: "self.nul + 'x'" }, "<nil>: Invalid value: no"],
    [{ rule: "false", message: "no", messageExpression: "''" }, "<nil>: Invalid value: no"],
    [{ rule: "false", message: "no", reason: "FieldValueForbidden", fieldPath: ".inner.x" }, "inner.x: Forbidden: no"],
    [
      { rule: "false", message: "no", reason: "FieldValueRequired", fieldPath: ".map['q']" },
      "map[q]: Required value: no",
    ],
    [{ rule: "false", reason: "FieldValueDuplicate" }, "<nil>: Duplicate value"],
    [
      { rule: "self.inner.deep.y == 1", message: "no" },
      '<nil>: Invalid value: "object": no such key: deep evaluating rule: no',
    ],
    [
      { rule: "1 / (self.n - 3) == 1" },
      '<nil>: Invalid value: "object": division by zero evaluating rule: 1 / (self.n - 3) == 1',
    ],
    [
      { rule: "self.ios > 3" },
      `<nil>: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.ios > 3`,
    ],
  ];
  for (const [rule, expected] of cases) assert.deepEqual(lines(VALUE, schemaWith(rule)), [expected], rule.rule);
});

test("oldSelf is there on updates only, unless it is optional", () => {
  const transition = schemaWith({ rule: "self.n >= oldSelf.n" });
  assert.deepEqual(lines({ n: 1 }, transition), []);
  assert.deepEqual(lines({ n: 1 }, transition, { n: 2 }), ["<nil>: Invalid value: failed rule: self.n >= oldSelf.n"]);
  const optional = schemaWith({ rule: "!oldSelf.hasValue() || self.n >= oldSelf.value().n", optionalOldSelf: true });
  assert.deepEqual(lines({ n: 1 }, optional), []);
  assert.equal(lines({ n: 1 }, optional, { n: 2 }).length, 1);
});

test("rules run at every level, with the path as the server writes it", () => {
  const rule = { "x-kubernetes-validations": [{ rule: "self != 'bad'" }] };
  const schema: Schema = {
    type: "object",
    properties: {
      map: { type: "object", additionalProperties: { type: "string", ...rule } },
      list: { type: "array", items: { type: "object", properties: { "x-y": { type: "string", ...rule } } } },
    },
  };
  const value = { map: { "a.b": "bad", ok: "good" }, list: [{}, { "x-y": "bad" }] };
  assert.deepEqual(lines(value, schema), [
    `map[a.b]: Invalid value: "bad": failed rule: self != 'bad'`,
    `list[1].x-y: Invalid value: "bad": failed rule: self != 'bad'`,
  ]);
});

test("the root of a resource shows its names", () => {
  const schema: Schema = {
    type: "object",
    properties: { metadata: { type: "object" } },
    "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 4 && self.kind == 'K'" }],
  };
  const named = (name: string): Json => ({ apiVersion: "v1", kind: "K", metadata: { name } });
  assert.deepEqual(validateRules(named("abc"), undefined, schema), []);
  assert.equal(validateRules(named("abcd"), undefined, schema).length, 1);
});

test("a rule whose loops would take too long is stopped, and so are those after it", () => {
  const nums = Array.from({ length: 10_000 }, (_, index) => index);
  for (const rule of [
    "self.nums.all(x, self.nums.exists(y, x == y))",
    "self.nums.all(x, x in self.nums)",
    "self.nums.distinct().size() > 0",
  ]) {
    const found = lines({ nums }, schemaWith({ rule }, { rule: "false" }));
    assert.match(found.join("\n"), /^[^\n]*actual cost limit exceeded[^\n]*$/, rule);
  }
  assert.deepEqual(lines({ nums }, schemaWith({ rule: "self.nums.all(x, x >= 0) && self.nums.sum() > 0" })), []);
});

test("names are escaped as the server escapes them", () => {
  for (const [name, expected] of [
    ["plain", "plain"],
    ["namespace", "__namespace__"],
    ["a-b.c/d", "a__dash__b__dot__c__slash__d"],
    ["a__b", "a__underscores__b"],
    ["1a", undefined],
    ["ä", undefined],
    ["$x", undefined],
  ] as const) {
    assert.equal(escapeProperty(name), expected, name);
  }
});

test("no rule, however broken, makes compiling throw; no value makes evaluating throw", () => {
  const piece = fc.constantFrom(
    ..."self oldSelf .a .n .list .map .nope [0] ['x'] ( ) && || ! == < + - 1 'x' 1.5 has( .all(x, .map(y, x y .matches( .format([ ] ) , ? : null true .?a in size( { } \"".split(
      " ",
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const rule = pieces.join("");
      const schema = schemaWith({ rule, messageExpression: rule });
      assert.ok(compileRules(schema, false));
      assert.ok(Array.isArray(validateRules(VALUE, VALUE, schema, false)));
    }),
    { numRuns: 300 },
  );
});
