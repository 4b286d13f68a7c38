import { api } from "./api.js";
import { empty, fill, h, title } from "./dom.js";
import { t, when } from "./text.js";

export const familyOf = (model) => (model.family === "unknown" ? t("unknownFamily") : model.family);

export async function modelsPage(main) {
  const { models } = await api("/api/models");
  fill(main, title(t("models")), h("p", { className: "lead" }, t("modelsLead")),
    !models.length && empty(t("noModels"), t("noModelsHint")),
    h("ul", { className: "list", "aria-label": t("models") }, models.map((model) => h("li", {}, h("a", { className: "item", href: `#/models/${encodeURIComponent(model.name)}` },
      h("span", { className: "name" }, model.name),
      h("span", { className: "about" }, [familyOf(model), model.strategy, model.small && t("helped")].filter(Boolean).join(" · ")),
      h("span", { className: "side" }, model.measured ? t("measuredAt", { time: when(model.measured.at) }) : t("notMeasured")))))));
}
