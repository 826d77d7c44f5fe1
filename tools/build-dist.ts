import { runCommand } from "./run.ts";

/** Makes dist/ anew, for whoever measures or tries what users get. */
export async function buildDist(): Promise<void> {
  console.log("building dist/ …");
  const build = await runCommand("npm", ["run", "--silent", "build"], true);
  if (build.code !== 0) throw new Error(build.output);
}
