import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { PodTiming } from "../../src/embedded/controllers/pod-runner.ts";
import { EmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { writeKubeconfig } from "../../src/embedded/http/kubeconfig-file.ts";
import { createToken, isSameToken, serve } from "../../src/embedded/http/serve.ts";
import { createServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import type { RunningTarget, Target } from "./target.ts";

/** Short enough that the suite sees the server forget, long enough for every watch in it to keep up. */
const historyLimit = 400;

/** The embedded server in this process, over HTTPS on a port of its own, keeping nothing. */
export const embeddedTarget = (kubectl?: string, podTiming: Partial<PodTiming> = {}): Target => ({
  name: "embedded",
  ...(kubectl !== undefined && { kubectl }),
  start: () => start(podTiming),
});

async function start(podTiming: Partial<PodTiming>): Promise<RunningTarget> {
  const [clock, random] = [systemClock, systemRandom];
  const directory = await mkdtemp(path.join(tmpdir(), "keyturn-embedded-"));
  const certificate = createServingCertificate({ clock, random });
  const rootCertificate = certificate.authorityPem;
  const token = createToken(random);
  const server = new EmbeddedServer({
    clock,
    random,
    logger: silentLogger,
    historyLimit,
    rootCertificate,
    podTiming,
    isKnownToken: (given) => isSameToken(given, token),
  });
  server.start();
  const serving = await serve({ api: server.api, certificate, token, clock });
  const kubeconfig = path.join(directory, "kubeconfig");
  await writeKubeconfig(kubeconfig, { url: serving.url, authorityPem: certificate.authorityPem, token });
  return {
    kubeconfig,
    stop: async () => {
      await serving.stop();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
