import path from "node:path";
import { ProcessGroup } from "./process-group.ts";

/**
 * A program for the test beside it: starts three processes that never end by themselves and waits to be killed. Each
 * process notes its start and its end in a file.
 */
const directory = process.argv[2] ?? "";
const group = new ProcessGroup(directory);
const notes = process.argv[3] ?? "";
const script = (name: string) => `
  const { appendFileSync } = require("node:fs");
  appendFileSync(${JSON.stringify(notes)}, "start ${name} " + process.pid + "\\n");
  process.on("SIGTERM", () => { appendFileSync(${JSON.stringify(notes)}, "end ${name}\\n"); process.exit(0); });
  setInterval(() => {}, 1000);
`;
for (const name of ["etcd", "kube-apiserver", "client"]) {
  await group.start(name, process.execPath, ["-e", script(name)], path.join(directory, `${name}.log`));
}
