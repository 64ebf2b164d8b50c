import { expect, test } from "vitest";
import { unreadLanguage } from "./language-of.ts";

const ENGLISH = ["Sends an email.", "Lists the newest orders."];

test("a query in a script that no table reads is named, with the catalog's language", () => {
  expect(unreadLanguage("أرسل رسالة", false, ENGLISH)).toEqual({
    query: "Arabic script",
    catalog: "English",
  });
  expect(unreadLanguage("ส่งอีเมล", false, ["发送邮件"])).toEqual({ query: "Thai", catalog: "Chinese" });
});

test("nothing is said where words matched or a table reads the query", () => {
  expect(unreadLanguage("أرسل رسالة", true, ENGLISH)).toBeUndefined();
  for (const query of ["send mail", "отправить письмо", "メールを送る", "42", ""]) {
    expect(unreadLanguage(query, false, ENGLISH)).toBeUndefined();
  }
});
