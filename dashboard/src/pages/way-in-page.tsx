import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Access, pastedToken } from "../access/session.ts";
import { usePage } from "../app/page-state.ts";
import { Empty, Notice } from "../parts/notice.tsx";

/** Before somebody is known: how to prove who one is, or why that did not work. */
export function WayInPage({ access }: { access: Access }): JSX.Element {
  const page = usePage();
  switch (access.kind) {
    case "looking":
    case "in":
      return <Empty>Opening…</Empty>;
    case "needs-link":
      return (
        <div class="way-in">
          <h1 tabIndex={-1}>Open the link</h1>
          <p>{access.line}</p>
          <pre>keyturn dashboard</pre>
          <p class="faint">
            The link then leads to the page that you wanted. In another browser, append its #token=… to the address that
            you were given.
          </p>
        </div>
      );
    case "unreachable":
      return (
        <div class="way-in">
          <h1 tabIndex={-1}>No answer</h1>
          <Notice tone="trouble">{access.line}</Notice>
          <button type="button" class="first" onClick={() => void page.lookAgain()}>
            Try again
          </button>
        </div>
      );
    case "needs-token":
      return <TokenForm line={access.line} />;
  }
}

function TokenForm({ line }: { line: string | undefined }): JSX.Element {
  const page = usePage();
  const [text, setText] = useState("");
  const [mistake, setMistake] = useState(line);
  return (
    <form
      class="way-in"
      onSubmit={(event) => {
        event.preventDefault();
        const token = pastedToken(text);
        if (token === undefined) setMistake("This is no token: it is one long word, without spaces.");
        else page.useToken(token);
      }}
    >
      <h1 tabIndex={-1}>Who are you?</h1>
      <p>Paste a token that the cluster knows you by. You see and do here what you may see and do there.</p>
      <pre>kubectl create token NAME -n NAMESPACE</pre>
      {mistake === undefined ? null : <Notice tone="trouble">{mistake}</Notice>}
      <label class="field">
        <span>Token</span>
        <textarea
          rows={4}
          value={text}
          autocomplete="off"
          spellcheck={false}
          class="mono"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="faint">It stays in this tab, and goes when the tab is closed.</p>
      <button type="submit" class="first" disabled={text.trim() === ""}>
        Look at the cluster
      </button>
    </form>
  );
}
