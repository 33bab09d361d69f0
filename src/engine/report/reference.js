const search = document.getElementById("search");
search.addEventListener("input", () => {
  const word = search.value.toLowerCase();
  for (const article of document.querySelectorAll("article")) {
    article.hidden = !article.textContent.toLowerCase().includes(word);
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = !section.querySelector("article:not([hidden])");
  }
});
