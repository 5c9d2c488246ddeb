// The page as a server sends it.

import { startPage } from "./page/start-page";

startPage();
