// Scripts for the pages of a browser, as text: this program itself has no DOM.

/** How far the page is wider than its window. */
export const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** Ways to turn text into markup or code, and how each ends. */
export const TURN_TEXT_INTO_CODE = `[
  () => { document.body.innerHTML = "<b>x</b>" },
  () => document.body.insertAdjacentHTML("beforeend", "<b>x</b>"),
  () => document.write("<b>x</b>"),
  () => { document.createElement("script").text = "1" },
].map((attempt) => { try { attempt(); return "ran" } catch (error) { return error.name } })`;

/** A page of another origin tries to read, call, load as a script and frame the console. */
export function attack(origin: string, half: string): string {
  return `(async () => {
    const origin = ${JSON.stringify(origin)};
    const outcome = (request) => request.then(
      (response) => response.type === "opaque" ? "opaque" : "read " + response.status,
      () => "refused",
    );
    const body = JSON.stringify({ op: "shop.order.create", args: { customer: "evil" } });
    const own = { "x-keyhole-console": ${JSON.stringify(half)} };
    const json = { ...own, "content-type": "application/json" };
    const credentials = "include";
    const loaded = (name, src, onload) => new Promise((done) => {
      const element = document.createElement(name);
      element.onload = () => done(onload(element));
      element.onerror = () => done("refused");
      element.src = src;
      document.body.append(element);
    });
    return Promise.all([
      outcome(fetch(origin + "/api/overview", { credentials })),
      outcome(fetch(origin + "/api/overview", { credentials, headers: own })),
      outcome(fetch(origin + "/api/exec", { method: "POST", credentials, headers: json, body })),
      outcome(fetch(origin + "/console/session", { method: "POST", credentials, body: "{}" })),
      outcome(fetch(origin + "/api/exec", { method: "POST", mode: "no-cors", credentials, body })),
      loaded("script", origin + "/api/overview", () => "read as a script"),
      loaded("iframe", origin + "/console/", (frame) => {
        try { return frame.contentDocument ? "read as a frame" : "refused" } catch { return "refused" }
      }),
    ]);
  })()`;
}

/** Whether the link to the page that is open stands within the navigation, which scrolls on narrow screens. */
export const CURRENT_IS_SHOWN = `(() => {
  const { left, right } = document.querySelector("nav [aria-current]").getBoundingClientRect();
  return left >= 0 && right <= innerWidth;
})()`;

/** Notes each question for notifications and each notification, which a page of a test cannot see otherwise. */
export const NOTE_NOTIFICATIONS = `(() => {
  const noted = (window.notified = []);
  const Real = window.Notification;
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      noted.push(title + "; " + options.body);
    }
    static requestPermission() {
      noted.push("asked");
      return Real.requestPermission();
    }
  };
})()`;
export const NOTIFIED = "window.notified";

/** The names of the tables that have to be scrolled sideways. */
export const WIDE_TABLES = `[...document.querySelectorAll(".table")]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((table) => table.getAttribute("aria-label"))`;

/** Scrolls the narrow menu. */
export const SCROLL_MENU = (to: "start" | "end") => `(() => {
  const nav = document.querySelector("nav");
  nav.scrollLeft = ${to === "start" ? "0" : "nav.scrollWidth"};
})()`;
