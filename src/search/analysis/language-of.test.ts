import { expect, test } from "vitest";
import { otherLanguage } from "./language-of.ts";

const ENGLISH = ["Sends an email.", "Lists the newest orders."];

test("a query in another script than the catalog's is named, with the catalog's language", () => {
  expect(otherLanguage("أرسل رسالة", ENGLISH)).toEqual({ query: "Arabic script", catalog: "English" });
  expect(otherLanguage("メールを送る", ENGLISH)).toEqual({ query: "Japanese", catalog: "English" });
  expect(otherLanguage("ส่งอีเมล", ["发送邮件"])).toEqual({ query: "Thai", catalog: "Chinese" });
});

test("nothing is said about a query in the catalog's script, or without letters", () => {
  for (const query of ["send mail", "poslati poruku", "42", ""])
    expect(otherLanguage(query, ENGLISH)).toBeUndefined();
});
