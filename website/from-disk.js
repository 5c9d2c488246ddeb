// Browsers do not let a page that was opened from disk fetch the search's index: no search there.
if (location.protocol === "file:") document.documentElement.classList.add("from-disk");
