import { render } from "preact";
import { startNavigation } from "./app/navigation.ts";
import { PageContext, PageState } from "./app/page-state.ts";
import { Shell } from "./app/shell.tsx";

/** Where the page begins: one state, one shell, and the stream. */
const page = new PageState();
const place = document.getElementById("page");
if (place) {
  startNavigation();
  render(
    <PageContext.Provider value={page}>
      <Shell />
    </PageContext.Provider>,
    place,
  );
  void page.start();
}
