import { expect, test } from "vitest";
import { otherLanguage } from "./language-of.ts";

const ENGLISH = ["Sends an email to the people of a list.", "Lists the newest orders."];

test("a query in another script than the catalog's is named, with the catalog's language", () => {
  expect(otherLanguage("أرسل رسالة", ENGLISH, false)).toEqual({ query: "Arabic script", catalog: "English" });
  expect(otherLanguage("メールを送る", ENGLISH, false)).toEqual({ query: "Japanese", catalog: "English" });
  expect(otherLanguage("ส่งอีเมล", ["发送邮件"], false)).toEqual({ query: "Thai", catalog: "Chinese" });
});

test("a query in another language of the catalog's script is told so where it found nothing", () => {
  const other = { query: "another language", catalog: "English" };
  for (const query of ["skapa en uppgift", "poslati poruku", "hozz létre egy feladatot", "tạo một nhiệm vụ"])
    expect(otherLanguage(query, ENGLISH, false), query).toEqual(other);
});

test("a language that search does not know is told also where something was found", () => {
  for (const query of [
    "søg efter dokumenter",
    "uppdatera målet",
    "vytvoř úkol",
    "tìm tài liệu",
    "שלח הודעת email",
  ])
    expect(otherLanguage(query, ENGLISH, true), query).toMatchObject({ catalog: "English" });
  for (const query of ["erstelle eine Aufgabe", "画像を検索する", "удали папку"])
    expect(otherLanguage(query, ENGLISH, true), query).toBeUndefined();
});

test("nothing is said about a query in the catalog's language, or without letters", () => {
  for (const query of ["send mail", "the quota of Søren", "where is it", "42", ""])
    expect(otherLanguage(query, ENGLISH, false), query).toBeUndefined();
  const german = ["Sendet eine Nachricht an den Empfänger.", "Listet die neuesten Bestellungen auf."];
  expect(otherLanguage("poslati poruku", german, false)).toBeUndefined();
});
