import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import type { BrokenSetUp } from "./broken/broken-set-up.ts";
import { brokenSetUps } from "./broken/broken-set-ups.ts";
import { type Checked, CheckScene, type Found, NAMESPACE } from "./check-scene.ts";
import { otherRelease } from "./other-release.ts";

/** `keyturn check` on an installation that is in order, and on ones that are broken in one way each. */
const target = await pickTarget();

/** Stands in every secret that a sandbox gives out. */
const CANARY = /sandbox-secret/;

describe(`keyturn check, on the ${target.name} server`, { concurrency: 1 }, () => {
  let scene: CheckScene;
  before(async () => {
    scene = await CheckScene.set(target);
  });
  after(() => scene?.strike());

  const problemsIn = ({ findings }: Checked): readonly Found[] => findings.filter(({ level }) => level === "problem");

  test("has nothing to say against an installation that is in order", async () => {
    const checked = await scene.check();
    assert.deepEqual(
      checked.findings.filter(({ level }) => level !== "ok"),
      [],
    );
    assert.equal(checked.code, 0);
    const groups = new Set(checked.findings.map(({ group }) => group));
    for (const group of ["server", "clock", "definitions", "rights", "admission", "operator", "configurations"]) {
      assert.ok(groups.has(group), `${group} is looked at`);
    }
  });

  for (const setUp of brokenSetUps) {
    const skip =
      setUp.on !== undefined && setUp.on !== target.name && `only a ${setUp.on} server can be broken this way`;
    test(`finds: ${setUp.name}`, { skip }, () => tell(setUp));
  }

  async function tell({ break: breakIt, called, mend, found, name }: BrokenSetUp): Promise<void> {
    try {
      await breakIt?.(scene);
      const checked = await scene.check(await called?.(scene));
      const isMeant = ({ group, level, about, message }: Found): boolean =>
        group === found.group &&
        level === (found.level ?? "problem") &&
        found.about.test(about) &&
        found.message.test(message);
      const finding = checked.findings.find(isMeant);
      assert.ok(finding, `${name}; what was said:\n${checked.said}`);
      assert.match(finding.remedy ?? "", found.remedy);
      assert.equal(checked.code, problemsIn(checked).length > 0 ? 1 : 0);
      assert.doesNotMatch(checked.said, CANARY);
    } finally {
      await mend?.(scene);
    }
  }

  test("has nothing to say again, once everything is mended", async () => {
    assert.deepEqual(problemsIn(await scene.check()), []);
  });

  test("leaves external systems alone when it is told to", async () => {
    const { findings } = await scene.check({ words: ["--offline"] });
    const about = findings.filter(({ group }) => group === "configurations");
    assert.deepEqual(
      about.map(({ level, message }) => `${level} ${message}`),
      Array.from({ length: 2 }, () => "ok 1 configuration: Secret complete; nobody was asked (--offline)"),
    );
  });

  test("asks for nothing that an installation brings, before one", async () => {
    await scene.withoutOperator(async () => {
      const levels = async (...words: readonly string[]): Promise<readonly string[]> =>
        (await scene.check({ words })).findings
          .filter(({ group, level }) => group === "operator" && level !== "ok")
          .map(({ level }) => level);
      assert.deepEqual(await levels(), ["problem"]);
      assert.deepEqual(await levels("--before-install"), []);
    });
  });

  test("tells people in lines, and version tells that of the server", async () => {
    const told = await sayKeyturn(["check", "-n", NAMESPACE, "--kubeconfig", scene.kubeconfig, "--offline"]);
    assert.match(told.stdout, /^API server\n {2}ok {7}https:.*: answers: Kubernetes v1\.36\./);
    assert.match(told.stdout, /\n(No problems|\d+ problems?)(, \d+ hints?)?\.\n$/);
    const version = await sayKeyturn(["version", "--server", "--kubeconfig", scene.kubeconfig]);
    assert.equal(version.code, 0);
    assert.match(version.stdout, /^keyturn 0\nnode 24\.0\.0\nserver v1\.36\..*\n$/);
  });

  test("looks at the rights of the operator's own ServiceAccount", async () => {
    const { findings } = await scene.check({ words: ["--as-service-account", `${NAMESPACE}/keyturn`] });
    const [rights, ...others] = findings.filter(({ group }) => group === "rights");
    assert.deepEqual(others, []);
    assert.match(
      rights?.message ?? "",
      /^the ServiceAccount keyturn-check\/keyturn has all \d+ rights that are needed$/,
    );
  });

  test("takes a release that is called otherwise for what it is", async (context) => {
    const release = await otherRelease(scene, "rotator");
    context.after(() => release[Symbol.asyncDispose]());
    const { findings } = await scene.check({
      words: ["-n", "keyturn-check-rotator", "--as-service-account", "keyturn-check-rotator/rotator"],
    });
    const rights = findings.filter(({ group }) => group === "rights");
    assert.deepEqual(
      rights.map(({ level }) => level),
      ["ok"],
      JSON.stringify(rights),
    );
  });
});
