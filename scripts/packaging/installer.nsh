; Included by electron-builder's installer for Windows.

; Its own way of removing, which an upgrade runs too, but for the folder `site`: the service profile that an administrator
; put there, with its pinned keys, outlives an upgrade and a removal.
!macro customRemoveFiles
  ${if} ${FileExists} "$INSTDIR\site\*.*"
    ClearErrors
    Rename "$INSTDIR\site" "$INSTDIR.site"
    ${if} ${Errors}
      Abort `Can't move "$INSTDIR\site".`
    ${endif}
  ${endif}

  ${if} ${isUpdated}
    CreateDirectory "$PLUGINSDIR\old-install"
    Push ""
    Call un.atomicRMDir
    Pop $R0
    ${if} $R0 != 0
      Push ""
      Call un.restoreFiles
      Pop $R0
      Rename "$INSTDIR.site" "$INSTDIR\site"
      Abort `Can't rename "$INSTDIR" to "$PLUGINSDIR\old-install".`
    ${endif}
  ${endif}
  ; Out of the folder, so that it can be removed.
  SetOutPath $TEMP
  RMDir /r $INSTDIR

  ${if} ${FileExists} "$INSTDIR.site\*.*"
    CreateDirectory $INSTDIR
    Rename "$INSTDIR.site" "$INSTDIR\site"
  ${endif}
!macroend
