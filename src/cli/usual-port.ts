import type { Logger } from "../base/logger.ts";

export interface UsualPort {
  /** The port that was asked for; 0 when none was. */
  readonly wanted: number;
  /** The port of the last run; 0 when there was none. */
  readonly last: number;
  /** What listens, for the log. */
  readonly what: string;
  readonly logger: Logger;
}

/** Starts on the port that was asked for; else on that of the last run if it is still free, so that what was handed out goes on working. */
export async function onUsualPort<T>(usual: UsualPort, start: (port: number) => Promise<T>): Promise<T> {
  const { wanted, last, what, logger } = usual;
  if (wanted !== 0 || last === 0) return start(wanted);
  try {
    return await start(last);
  } catch {
    logger.info("the port of the last run is taken; using another one", { what, port: last });
    return start(0);
  }
}
