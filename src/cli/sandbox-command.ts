import * as cloudFoundryControls from "../sandbox/cloud-foundry/control-requests.ts";
import * as cloudFoundry from "../sandbox/cloud-foundry/switches.ts";
import type { ControlPage } from "../sandbox/controls/control-actions.ts";
import * as serviceManagerControls from "../sandbox/service-manager/control-requests.ts";
import * as serviceManager from "../sandbox/service-manager/switches.ts";
import type { Command } from "./command.ts";
import { readyFileOption } from "./ready-file.ts";

const LINE_LENGTH = 110;

/** The controls, switches and settings of one of the sandboxes. */
interface Part {
  readonly controls: readonly ControlPage[];
  readonly switches: object;
  readonly instance: object;
}

function pageOf(title: string, { controls, switches, instance }: Part): readonly string[] {
  const width = Math.max(...controls.map(({ request }) => request.length));
  return [
    `${title}: controls, for curl (no log-in):`,
    ...controls.map(({ request, what }) => `  ${request.padEnd(width)}  ${what}`),
    "Switches:",
    ...wrapped(Object.keys(switches)),
    "Settings of an instance:",
    ...wrapped(Object.keys(instance)),
  ];
}

/** Names in lines that fit the page. */
function wrapped(names: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last === undefined || last.length + name.length > LINE_LENGTH) lines.push(`  ${name}`);
    else lines[lines.length - 1] = `${last}, ${name}`;
  }
  return lines;
}

export const sandboxCommand: Command = {
  name: "sandbox",
  summary: "Run the sandbox alone: a Service Manager and a Cloud Foundry to try against, over HTTP on this machine.",
  description: [
    "Answers as SAP Service Manager and as Cloud Foundry do, surprises included, with one login and one service instance",
    "each. Prints where they are, how to log in, and the manifests that make a cluster use them. They listen on loopback",
    "only and guard nothing that is real.",
    "",
    ...pageOf("Service Manager", {
      controls: serviceManagerControls.controlPages,
      switches: serviceManager.defaultSwitches,
      instance: serviceManager.defaultInstance,
    }),
    "",
    ...pageOf("Cloud Foundry", {
      controls: cloudFoundryControls.controlPages,
      switches: cloudFoundry.defaultSwitches,
      instance: { space: "", ...cloudFoundry.defaultInstance },
    }),
  ].join("\n"),
  options: [
    {
      name: "port",
      value: "PORT",
      description: "Port of the Service Manager; 0 takes the one of the last run (with --state), or a free one.",
      default: "0",
    },
    { name: "cloud-foundry-port", value: "PORT", description: "The same for the Cloud Foundry.", default: "0" },
    {
      name: "state",
      value: "FILE",
      description: "Keep everything in FILE and one beside it, and go on from there the next time.",
    },
    { name: "latency", value: "DURATION", description: "How much longer every answer takes." },
    { name: "seed", value: "NUMBER", description: "Draw ids and secrets from this number, the same in every run." },
    { name: "namespace", short: "n", value: "NAME", description: "Namespace of the Secret.", default: "default" },
    {
      name: "output",
      short: "o",
      value: "FORMAT",
      description: "text, or json (one object).",
      default: "text",
      choices: ["text", "json"],
    },
    readyFileOption,
  ],
  examples: [
    { command: "keyturn sandbox --port 5000 --state sandbox.json", what: "The same sandbox at every start" },
    {
      command: `curl -X PATCH http://127.0.0.1:5000/sandbox/switches -d '{"outage":"throttled","retryAfter":"http-date"}'`,
      what: "Too many requests, says every answer",
    },
    {
      command: `curl -X PUT http://127.0.0.1:5000/sandbox/instances/db -d '{"broker":"asynchronous","brokerWorkMs":5000}'`,
      what: "A service instance whose broker takes five seconds",
    },
    {
      command: `curl -X PATCH http://127.0.0.1:5001/sandbox/logins/USERNAME -d '{"role":"none"}'`,
      what: "At the Cloud Foundry: the role is lost, and everything looks deleted",
    },
  ],
  run: async (flags, world) => (await import("./sandbox/run-sandbox.ts")).runSandbox(flags, world),
};
