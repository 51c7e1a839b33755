"""The style sheet and the one script of the page."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--raised:#f6f7f9;--ink:#14181f;--soft:#525c6b;
--line:#dfe3e9;--bar:#2f6fde;--ref:#7d8897;--whisker:#14181f;--halo:#fff;--link:#1d58bd;
--good:#14703a;--good-bg:#e3f4e9;--bad:#a3262c;--bad-bg:#fbe9e9;--warn:#855100;--warn-bg:#fdf1d8}
@media (prefers-color-scheme:dark){:root{--bg:#0f1319;--raised:#171c24;--ink:#e8ebf0;
--soft:#a3adbc;--line:#2b323d;--bar:#4d88ef;--ref:#6d7888;--whisker:#f3f5f8;--halo:#0f1319;
--link:#8ab4ff;--good:#7fd7a0;--good-bg:#143222;--bad:#ff9d9f;--bad-bg:#3b1b1e;--warn:#f0c272;
--warn-bg:#36290f}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,
"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main,header{max-width:82rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:2.75rem}
main{padding-bottom:4rem}
h1{font-size:2.1rem;line-height:1.15;letter-spacing:-.02em;margin:.1rem 0 .6rem}
h2{font-size:1.3rem;letter-spacing:-.01em;margin:3rem 0 .4rem}
h3{font-size:1rem;margin:1.75rem 0 .5rem}
p{margin:.35rem 0 .9rem;max-width:46rem}
.eyebrow{color:var(--soft);font-size:.82rem;font-weight:600;letter-spacing:.02em;margin:0}
.lede,.note{color:var(--soft)}
.note{font-size:.9rem}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",
monospace;font-size:.84em}
.scroll{overflow:auto;border:1px solid var(--line);border-radius:8px}
.scroll.tall{max-height:36rem}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:.875rem;
line-height:1.25rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);font-size:.85rem;padding:.6rem .8rem;
border-bottom:1px solid var(--line)}
caption span{position:sticky;left:.8rem;display:inline-block;max-width:min(70rem,80vw)}
th,td{padding:.5rem .7rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line);
vertical-align:middle}
tbody tr:last-child>*{border-bottom:0}
thead th{font-weight:600;color:var(--soft);background:var(--raised);font-size:.8rem}
.tall thead th{position:sticky;top:0;z-index:2}
th.num,td.num{text-align:right}
tbody th{font-weight:600;background:var(--bg);position:sticky;left:0;z-index:1;border-bottom:0;
box-shadow:inset 0 -1px var(--line)}
tbody tr:last-child th{box-shadow:none}
tbody th.agent{white-space:normal;min-width:9rem;max-width:14rem}
thead th.agent{position:sticky;left:0;z-index:3}
tr.reference td,tr.reference th{color:var(--soft)}
tr.reference th{font-weight:500}
thead button{all:unset;cursor:pointer;font:inherit;color:inherit}
thead button:hover{color:var(--ink)}
thead button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
thead button::after{content:"";display:inline-block;width:.9em;text-align:right}
th.num button{margin-right:-.9em}
th[aria-sort=ascending] button::after{content:"↑"}
th[aria-sort=descending] button::after{content:"↓"}
.score{display:grid;grid-template-columns:3.7em auto;column-gap:.6rem;align-items:center}
.score b{text-align:right}
.score .ci{grid-column:2}
.ci{color:var(--soft);font-size:.8rem;line-height:1rem}
td.num .ci,td.status .ci{display:block}
td.flags{white-space:normal;min-width:12.5rem;line-height:1.125rem}
td.flags span{white-space:nowrap}
.tag{display:inline-block;padding:0 .45rem;border-radius:4px;font-size:.76rem;font-weight:600;
background:var(--raised);color:var(--soft);white-space:nowrap}
.tag.good{background:var(--good-bg);color:var(--good)}
.tag.bad{background:var(--bad-bg);color:var(--bad)}
.tag.warn{background:var(--warn-bg);color:var(--warn)}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20.5rem,100%),1fr));
gap:1.1rem 1.6rem;margin-top:.9rem}
figure{margin:0;min-width:0}
figcaption{font-weight:600;font-size:.9rem;border-bottom:1px solid var(--line);
padding-bottom:.25rem;margin-bottom:.3rem}
figcaption small{color:var(--soft);font-weight:400;font-size:.8rem;float:right;padding-top:.1rem}
svg{display:block}
svg.bars{width:100%;max-width:30rem;height:auto;overflow:visible}
svg text{font-size:11.5px;fill:var(--ink);font-variant-numeric:tabular-nums}
svg .tick{font-size:10.5px;fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:1}
.track{fill:var(--line);opacity:.55}
.bar{fill:var(--bar)}
.bar.reference{fill:var(--ref)}
.whisker,.halo{fill:none;stroke-width:1.4;stroke:var(--whisker)}
.halo{stroke:var(--halo);stroke-width:3.6;opacity:.75}
.matrix td{text-align:center}
.matrix td a{display:inline-block;min-width:2.2em;padding:0 .35rem;border-radius:4px;
text-decoration:none;font-weight:600;font-size:.8rem;background:var(--raised);color:var(--soft)}
.matrix td a.good{background:var(--good-bg);color:var(--good)}
.matrix td a.bad{background:var(--bad-bg);color:var(--bad)}
.matrix td a.warn{background:var(--warn-bg);color:var(--warn)}
.matrix tbody th{font-weight:400;max-width:22rem;overflow:hidden;text-overflow:ellipsis}
.matrix td,.matrix tbody th{padding:.25rem .7rem}
details{border:1px solid var(--line);border-radius:6px;margin:.35rem 0;background:var(--bg)}
details[id]{content-visibility:auto;contain-intrinsic-size:auto 2.6rem}
details:target{border-color:var(--link)}
summary{cursor:pointer;padding:.45rem .75rem;display:flex;flex-wrap:wrap;gap:.2rem .7rem;
align-items:baseline;overflow-wrap:anywhere;list-style-position:inside}
summary::before{content:"›";color:var(--soft);width:.6em;display:inline-block;
transition:transform .1s}
details[open]>summary::before{transform:rotate(90deg)}
summary::-webkit-details-marker{display:none}
summary .push{margin-left:auto;color:var(--soft);font-size:.84rem}
.body{padding:.2rem .75rem .75rem;border-top:1px solid var(--line)}
pre{background:var(--raised);border-radius:6px;padding:.75rem .9rem;overflow:auto;margin:.5rem 0;
max-height:32rem;line-height:1.45;direction:ltr;tab-size:4}
pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.15rem 1.1rem;
font-size:.875rem;margin:.6rem 0}
dt{color:var(--soft)}
dd{margin:0;min-width:0;overflow-wrap:anywhere}
.flags .tampering{color:var(--bad);font-weight:600}
.ctl{background:var(--warn-bg);color:var(--warn);border-radius:3px;padding:0 .2em;font-size:.85em}
.after{margin-top:.8rem}
@media (max-width:40rem){main,header{padding-left:1rem;padding-right:1rem}
header{padding-top:1.6rem}h1{font-size:1.6rem}h2{margin-top:2.3rem}
th,td{padding:.5rem}tbody th.agent{min-width:7.6rem;max-width:9rem}
.matrix tbody th{max-width:11.5rem;white-space:nowrap}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}summary .push{margin-left:0}
caption span{max-width:calc(100vw - 4rem)}}
@media print{details{break-inside:avoid}.scroll,.scroll.tall{overflow:visible;max-height:none}}
@media (prefers-reduced-motion:reduce){*{transition:none!important}}
""".strip()

SCRIPT = """
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table");
    const column = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const order = (a, b) => {
      const x = key(a), y = key(b), empty = (x === "") - (y === "");
      if (empty) return empty;
      const apart = x - y, found = isNaN(apart) ? x.localeCompare(y) : apart;
      return down ? -found : found;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  });
}
const show = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let each = target; each; each = each.parentElement?.closest("details")) each.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", show);
show();
""".strip()
