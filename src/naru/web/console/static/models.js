import { api } from "./api.js";
import { empty, fill, h, snippet, title } from "./dom.js";
import { t } from "./text.js";

const shown = [["family", "family"], ["strategy", "strategy"], ["native", "native_tools"], ["guided", "guided"], ["dialect", "dialect"],
  ["parallel", "parallel_calls"], ["helped", "small"], ["budgetTools", "tool_budget"], ["context", "context_tokens"]];

function said(label, value) {
  if (value === true || value === false) return t(value ? "yes" : "no");
  if (label === "budgetTools") return value || t("noLimit");
  return value || "–";
}

export async function modelsPage(main) {
  const { models } = await api("/api/models");
  fill(main, title(t("models")), h("p", { className: "lead" }, t("modelsLead")),
    !models.length && empty(t("noModels"), t("noModelsHint")),
    models.map((model) => h("section", { className: "card", "aria-label": model.name }, h("h2", {}, model.name),
      h("dl", { className: "facts" }, shown.map(([label, key]) => h("div", {}, h("dt", {}, t(label)), h("dd", {}, said(label, model[key]))))))),
    models.length > 0 && [h("h2", {}, t("measure")), snippet(models.map((model) => `naru probe ${model.name}`).join("\n"))]);
}
