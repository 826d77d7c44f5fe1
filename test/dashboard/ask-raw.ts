import { request } from "node:http";

export interface RawRequest {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with POST, as JSON. */
  readonly body?: object;
}

/** The status of an answer, to a request with headers that neither fetch nor a browser lets anybody set. */
export function askRaw({ url, path, headers, body }: RawRequest): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const type = body && { "content-type": "application/json" };
  const options = { hostname, port, path, method: body ? "POST" : "GET", headers: { ...type, ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, setHost: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end(body && JSON.stringify(body));
  });
}
