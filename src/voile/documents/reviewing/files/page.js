// The review's own window: its address, its reading, and what to do without its server.

import { askServer, Reading } from "./reading.js";
import { showNotice } from "./reading_view.js";

const reading = new Reading(document.getElementById("reading"), { ask: askServer, lost, ended: () => undefined });

function lost(error) {
  if (error.status === 403 && error.path !== "/session") showNotice("Open the address that voile printed", "It works once. For another, end voile in its terminal and start it again.");
  else if (error.status === 403) showNotice("This address was used before", "Return to the window that it opened in, or end voile in its terminal and start it again for a new address.");
  else showNotice("voile has stopped", "Every answer until the last key is saved. Start it again with the same command, and open the address that it prints.");
}

reading.queue(async () => {
  const token = location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", "/");
    await askServer("/session", token);
  }
});
reading.open();
