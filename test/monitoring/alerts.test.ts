import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { alertGroups } from "../../src/install/monitoring/alerts.ts";
import { ruleGroups } from "../../src/install/monitoring/prometheus-rule.ts";
import { findOnPath } from "../support/find-on-path.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { ALERT_CASES, type AlertCase } from "./alert-cases.ts";

/** The alerts as Prometheus itself understands them. */
const promtool = await findOnPath("promtool");
const skip = promtool === undefined && "promtool is not installed (Debian: apt-get install prometheus)";

const run = async (...words: readonly string[]): Promise<string> => {
  try {
    const { stdout } = await promisify(execFile)(promtool ?? "", words);
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  }
};

async function writeRules(): Promise<string> {
  const folder = scratchFolder();
  await writeFile(join(folder, "rules.yaml"), stringify({ groups: ruleGroups() }));
  return folder;
}

test("Prometheus takes the rules", { skip }, async () => {
  assert.match(await run("check", "rules", join(await writeRules(), "rules.yaml")), /SUCCESS/);
});

type Rules = ReturnType<typeof ruleGroups>;

/** Plays one case. What is said is not compared: only whether it is said, and of whom. */
async function play(
  folder: string,
  { alert, interval = "1m", series, checks }: AlertCase,
  groups: Rules,
): Promise<string> {
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const alert_rule_test = checks.map(({ at, fires }) => ({
    eval_time: at,
    alertname: alert,
    exp_alerts: fires.map((labels) => ({ exp_labels: { severity: severityOf(alert), ...labels } })),
  }));
  const tests = [{ interval, input_series, alert_rule_test }];
  await writeFile(join(folder, "bare.yaml"), stringify({ groups: groups.map(withoutAnnotations) }));
  const file = join(folder, "case.yaml");
  await writeFile(file, stringify({ rule_files: ["bare.yaml"], evaluation_interval: interval, tests }));
  return run("test", "rules", file);
}

test("each alert fires when it should, and not before or otherwise", { skip }, async (context) => {
  const folder = scratchFolder();
  for (const each of ALERT_CASES) {
    await context.test(`${each.alert}: ${each.reason}`, async () => {
      assert.match(await play(folder, each, ruleGroups()), /SUCCESS/);
    });
  }
});

test("a rate per second would not see failures under our pauses, and this would be noticed here", {
  skip,
}, async () => {
  const [failing] = ALERT_CASES as readonly [AlertCase];
  const expr = "rate(bindy_rndc_key_rotation_errors_total[5m]) > 0.1";
  const ofDocument = ruleGroups().map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => (rule.alert === failing.alert ? { ...rule, expr } : rule)),
  }));
  await assert.rejects(play(scratchFolder(), failing, ofDocument), /FAILED:\s+alertname: RndcKeyRotationFailing/);
});

test("there is a case for every alert in which it fires, and one in which it does not", () => {
  for (const { name } of alertGroups.flatMap(({ alerts }) => alerts)) {
    const checks = ALERT_CASES.filter(({ alert }) => alert === name).flatMap((each) => each.checks);
    assert.ok(
      checks.some(({ fires }) => fires.length > 0),
      `${name} fires`,
    );
    assert.ok(
      checks.some(({ fires }) => fires.length === 0),
      `${name} does not always fire`,
    );
  }
});

const severityOf = (alert: string): string =>
  alertGroups.flatMap(({ alerts }) => alerts).find(({ name }) => name === alert)?.severity ?? "";

const withoutAnnotations = ({ name, rules }: Rules[number]) => ({
  name,
  rules: rules.map(({ annotations: _, ...rule }) => rule),
});
