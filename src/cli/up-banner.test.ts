import assert from "node:assert/strict";
import { test } from "node:test";
import { type UpPlaces, upBanner } from "./up-banner.ts";

const places: UpPlaces = {
  api: "https://127.0.0.1:1",
  kubeconfig: "/tmp/my folder/kubeconfig",
  sandbox: "http://127.0.0.1:2",
  cloudFoundry: "http://127.0.0.1:3",
  named: "a stand-in",
  dashboard: undefined,
  metrics: undefined,
  folder: undefined,
  hasExamples: true,
  hasNameServers: true,
  hasOperator: true,
  program: "keyturn",
};

test("where no operator runs, the whole command that runs one is printed, at the pace of the examples", () => {
  const command = "keyturn operator --kubeconfig '/tmp/my folder/kubeconfig' --min-frequency 5s --min-rotate-after 10s";
  assert.ok(upBanner({ ...places, hasOperator: false }).includes(`  operator    none; to run one: ${command}\n`));
  assert.doesNotMatch(upBanner(places), /min-frequency/);
});

test("an outage to try is there for each of the sandboxes", () => {
  for (const url of [places.sandbox, places.cloudFoundry]) {
    assert.ok(upBanner(places).includes(`curl -X PATCH ${url}/sandbox/switches -d '{"outage":"unavailable"}'`), url);
    assert.ok(upBanner(places).includes(`curl -X DELETE ${url}/sandbox/switches`), url);
  }
});

test("what name servers run is said, and they are among what to look at where there are any", () => {
  assert.match(upBanner(places), /^ {2}named {7}a stand-in$/m);
  assert.match(upBanner(places), /kubectl -n dns get .*rndckeys/);
  assert.doesNotMatch(upBanner({ ...places, named: "off", hasNameServers: false }), /rndckeys/);
});
