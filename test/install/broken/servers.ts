import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { createServingCertificate } from "../../../src/embedded/http/serving-certificate.ts";
import type { BrokenSetUp } from "./broken-set-up.ts";

/** A clock that goes wrong by so much. */
const wrongBy = (ms: number): Clock => ({
  ...systemClock,
  now: () => systemClock.now() + ms,
});

const tokenThatEnded = (endedAt: number): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return [part({ alg: "RS256" }), part({ sub: "somebody", exp: Math.floor(endedAt / 1000) }), "c2lnbmF0dXJl"].join(".");
};

export const servers: readonly BrokenSetUp[] = [
  {
    name: "the clock of this machine is wrong by a minute and a half",
    called: async () => ({ clock: wrongBy(90_000) }),
    found: { group: "clock", level: "problem", about: /this machine/, message: /1m[23]\ds ahead of/, remedy: /NTP/ },
  },
  {
    name: "the clock of this machine is wrong by ten seconds",
    called: async () => ({ clock: wrongBy(-10_000) }),
    found: { group: "clock", level: "hint", about: /this machine/, message: /\d+s behind/, remedy: /NTP/ },
  },
  {
    name: "the token has ended",
    called: async (scene) => {
      const token = tokenThatEnded(Date.UTC(2024, 0, 2, 3, 4, 5));
      return { kubeconfig: await scene.kubeconfigWith("ended", { user: { token } }) };
    },
    found: {
      group: "server",
      level: "problem",
      about: /^https:/,
      message: /ended at 2024-01-02T03:04:05Z/,
      remedy: /log in again/,
    },
  },
  {
    name: "the token is nobody's",
    called: async (scene) => ({ kubeconfig: await scene.kubeconfigWith("stranger", { user: { token: "stranger" } }) }),
    found: {
      group: "server",
      level: "problem",
      about: /^https:/,
      message: /does not accept the credentials/,
      remedy: /log in again/,
    },
  },
  {
    name: "the kubeconfig trusts another authority",
    called: async (scene) => {
      const { authorityPem } = createServingCertificate({ clock: systemClock, random: systemRandom });
      const authority = Buffer.from(authorityPem).toString("base64");
      return {
        kubeconfig: await scene.kubeconfigWith("authority", { cluster: { "certificate-authority-data": authority } }),
      };
    },
    found: {
      group: "server",
      level: "problem",
      about: /^https:/,
      message: /signed by nobody that the kubeconfig trusts/,
      remedy: /certificate-authority-data/,
    },
  },
  {
    name: "nothing listens at the port of the API server",
    called: async (scene) => ({
      kubeconfig: await scene.kubeconfigWith("port", { cluster: { server: "https://127.0.0.1:1" } }),
    }),
    found: {
      group: "server",
      level: "problem",
      about: /127\.0\.0\.1:1/,
      message: /nothing listens there/,
      remedy: /host and port/,
    },
  },
  {
    name: "the host of the API server is unknown",
    called: async (scene) => ({
      kubeconfig: await scene.kubeconfigWith("host", { cluster: { server: "https://nowhere.invalid" } }),
    }),
    found: {
      group: "server",
      level: "problem",
      about: /nowhere\.invalid/,
      message: /nobody knows that host/,
      remedy: /DNS/,
    },
  },
];

/** What answers is a web site. */
async function website(): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer((_, response) => response.end("<html>hello</html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

let site: Awaited<ReturnType<typeof website>> | undefined;

export const strangers: readonly BrokenSetUp[] = [
  {
    name: "what answers is no API server",
    called: async (scene) => {
      site = await website();
      return { kubeconfig: await scene.kubeconfigWith("website", { cluster: { server: site.url } }) };
    },
    mend: async () => site?.stop(),
    found: {
      group: "server",
      level: "problem",
      about: /^http:/,
      message: /not a Kubernetes API server/,
      remedy: /correct the server/,
    },
  },
];
