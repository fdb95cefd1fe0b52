// What a reader would see of the page: measured in the browser, for tests/browser.py.
(() => {
  const root = document.documentElement;

  // A colour as the browser computes it: red, green, blue from 0 to 255, and how much of it covers.
  const parts = (colour) => {
    const [r, g, b, a = 1] = (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return { r, g, b, a };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parts(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 });
  };
  // Relative luminance and contrast as WCAG 2 defines them.
  const light = ({ r, g, b }) => {
    const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || ["STYLE", "SCRIPT", "title"].includes(element.tagName) || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const ink = over(parts(element.closest("svg") ? style.fill : style.color), below);
    const size = parseFloat(style.fontSize) * (element.closest("svg") ? svgScale(element.closest("svg")) : 1);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    texts.push({ text: text.slice(0, 40), contrast: contrast(ink, below), large, size });
  }
  function svgScale(svg) {
    return svg.viewBox.baseVal && svg.viewBox.baseVal.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
  }

  const bars = [...document.querySelectorAll("table.bars rect")].map((bar) =>
    contrast(parts(getComputedStyle(bar).fill), ground(bar.closest("td"))));
  const scrolling = [...document.querySelectorAll("body *")]
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
    .map((e) => `${e.tagName}.${e.className} ${(e.querySelector("h2") || e).textContent.slice(0, 30)}`);
  const beyond = [...document.querySelectorAll("body *")]
    .filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest(".scroll"))
    .map((e) => `${e.tagName} ${e.textContent.slice(0, 40)}`);

  return {
    title: document.title,
    wide: root.scrollWidth,
    window: innerWidth,
    scrolling,
    beyond,
    paper: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    texts,
    bars,
    sections: [...document.querySelectorAll("h2")].map((e) => e.textContent),
    tables: [...document.querySelectorAll("table")].map((e) => e.querySelectorAll("th").length),
    figures: [...document.querySelectorAll("[data-metric]")].map((e) => [e.dataset.metric, e.textContent]),
    histograms: [...document.querySelectorAll("[data-histogram]")].map((e) => [
      e.dataset.histogram,
      [...e.querySelectorAll("[data-le]")].map((row) => [row.dataset.le, Number(row.dataset.users), row.lastChild.textContent]),
    ]),
    pictures: [...document.querySelectorAll("svg")].map((e) => e.getBoundingClientRect().width),
    text: document.body.innerText,
  };
})();
