import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { applyTheme } from "./parts/theme.tsx";
import "./style/index.css";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element #root");
applyTheme(); // before anything is drawn, so that nothing flashes
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
